"""Self-registration: somebody with a contest's code makes an account, with a team of their own or in a friend's.

Whether there is a place left is asked again under the lock of the contest's terms, so that exactly as many register as
may. The password is hashed before, while nobody waits.

- Names of people as usernames and ids.
"""

import hashlib
import re
import time
import unicodedata
from collections.abc import Callable, Container
from hmac import compare_digest

from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts.schemas import Registration, RegistrationBody, is_id, refuse_weak
from app.accounts.service import grants, registration
from app.contests.queries import contest_of
from app.core import clics, clock
from app.core.messages import N_, Conflict, Forbidden, TooManyRequests
from app.core.passwords import hash_password, random_letters
from app.core.service import Service
from app.tables import AccountRow, ContestRow, PersonRow, RegisteredRow, RegistrationRow, TeamRow
from app.teams import queries as teams_queries

NOT_IN_USERNAMES = re.compile(r"[^a-z0-9]+")
LONGEST_USERNAME = 30
DIGITS_OF_A_NAME = 6
# Letters of Cyrillic, Greek and extended Latin that have no ASCII letter inside, as usernames write them.
IN_LATIN = str.maketrans(
    dict(zip("абвгдезийклмнопрстуфхыэ", "abvgdeziyklmnoprstufhye", strict=True))
    | dict(zip("αβγδεζηικλμνξοπρσςτυφχω", "avgdeziiklmnxoprsstyfho", strict=True))
    | {"ж": "zh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ю": "yu", "я": "ya", "ъ": "", "ь": ""}
    | {"є": "ye", "і": "i", "ґ": "g", "ђ": "dj", "ј": "j", "љ": "lj", "њ": "nj", "ћ": "c", "џ": "dz", "ѕ": "dz"}
    | {"θ": "th", "ψ": "ps", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o"}
    | {"đ": "d", "ð": "d", "ł": "l", "þ": "th", "ı": "i"}
)


def plain(text: str) -> str:
    """Small letters without their accents: José Ñandú is jose nandu."""
    letters = unicodedata.normalize("NFKD", text)
    return "".join(each for each in letters if not unicodedata.combining(each)).lower()


def username_of(name: str) -> str:
    """The username that a name gives, such as ana.perez.

    A name in a script without a table gives a neutral one made of its digest: the same name always gives the same.
    """
    letters = unicodedata.normalize("NFC", name).lower().translate(IN_LATIN)  # й before its accent is taken off
    letters = plain(letters).translate(IN_LATIN)
    username = NOT_IN_USERNAMES.sub(".", letters).strip(".")[:LONGEST_USERNAME].strip(".")
    return username or f"user.{hashlib.sha256(plain(name).encode()).hexdigest()[:DIGITS_OF_A_NAME]}"


def free_username(base: str, taken: Container[str]) -> str:
    """Return the base, or the base with random letters if it is taken: a number would count hidden accounts."""
    free = base
    while free in taken:
        free = f"{base}-{random_letters()}"
    return free


# Registrations that one address may ask for: a whole class may share it.
MOST_A_MINUTE = 60
LONGEST_BASE = 25
SEPARATORS = str.maketrans("", "", "- \t")
TAKEN = N_("expected a name that no team of the contest has, found %(found)r")
TAKEN_JOINABLE = N_(
    "expected a name that no team of the contest has, found %(found)r; to join it, send the code that its first member "
    "got"
)


class Pace:
    """Bounds the registrations that each address asks for in a minute; `steady` counts seconds and is never set."""

    def __init__(self, most: int = MOST_A_MINUTE, steady: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self.asked = grants.Failures(steady)

    def take(self, source: str) -> None:
        """Count a registration; raises TooManyRequests once there were too many within a minute."""
        key = ("registration", source)
        if self.asked.reach(key, self._most):
            raise TooManyRequests(
                N_("too many registrations come from this address; try again in a minute"), int(grants.MINUTE)
            )
        self.asked.add(key, self._most)


def register(service: Service, contest_id: str, body: RegistrationBody) -> Registration:
    """Make an account and its team, and let it take part.

    Raises Forbidden without the right code or while registration is closed, Conflict once every place is taken or for
    a name that is taken, BadRequest for a weak password.
    """
    with service.database.read() as session:  # whoever is refused has not cost a hash
        _Admission(session, contest_id, body).check()
    password_hash = hash_password(body.password)
    with service.database.write() as session:
        made = _Admission(session, contest_id, body, for_update=True).keep(password_hash)
    service.boards.all_changed()
    return made


class _Admission:
    """One registration, held against the terms and the names of the moment."""

    def __init__(self, session: Session, contest_id: str, body: RegistrationBody, *, for_update: bool = False) -> None:
        self._session = session
        self._body = body
        self._contest = contest_of(session, contest_id)
        row = accounts_queries.terms(session, contest_id, for_update=for_update)
        self._terms = _admitted(self._contest, row, body.code)

    def check(self) -> None:
        """Raise what `keep` would raise."""
        registration.refuse_full(self._session, self._contest, self._terms)
        self._username()
        refuse_weak(self._body.password, self._username(), self._body.name, self._body.team)
        if self._body.team_code is not None:
            self._joined(self._body.team_code)
        else:
            self._refuse_same_name(self._body.team or self._body.name)

    def keep(self, password_hash: str) -> Registration:
        """Store the account, its person and its team."""
        self.check()
        code = self._body.team_code
        team, is_new = (self._joined(code), False) if code is not None else (self._made_team(), True)
        username = self._username()
        account_id = self._account_id(username)
        now = clock.utc_now()
        # The person first: the account refers to it.
        person = PersonRow(
            id=self._free(PersonRow, account_id),
            contest_id=self._contest.id,
            name=self._body.name,
            role="contestant",
            team_ids=[team.id],
            details={"email": self._body.email},
        )
        self._session.add(person)
        self._session.flush()
        account = AccountRow(
            id=account_id,
            username=username,
            password_hash=password_hash,
            name=self._body.name,
            type="team",
            team_id=team.id,
            person_id=person.id,
            created=now,
        )
        self._session.add(account)
        self._session.flush()
        team_code = registration.make_code() if is_new and self._terms.team_size > 1 else None
        self._session.add(
            RegisteredRow(account_id=account_id, contest_id=self._contest.id, team_code=team_code, time=now)
        )
        teams_queries.enrol(self._session, self._contest.id, [team.id])
        return Registration(
            account_id=account_id,
            username=username,
            name=self._body.name,
            team_id=team.id,
            team=team.name,
            team_code=team_code,
        )

    def _username(self) -> str:
        taken = {name for pair in accounts_queries.usernames(self._session).items() for name in pair}  # ids count, too
        if self._body.username is not None:
            if self._body.username in taken:
                raise Conflict(
                    N_("expected one that is free, found %(found)r"), where="username", found=self._body.username
                )
            return self._body.username
        return free_username(username_of(self._body.name), taken)

    def _account_id(self, username: str) -> str:
        return username if is_id(username) else self._free(AccountRow, username)

    def _free(self, table: type[AccountRow | PersonRow | TeamRow], name: str) -> str:
        """Return a free id made of a name and random letters, which are always there: others may be hidden."""
        base = clics.NOT_IN_IDS.sub("-", plain(name)).strip("-")[:LONGEST_BASE].strip("-") or "team"
        while self._session.get(table, free := f"{base}-{random_letters()}") is not None:
            pass
        return free

    def _made_team(self) -> TeamRow:
        name = self._body.team or self._body.name
        id_ = self._free(TeamRow, name)
        groups = [] if self._terms.group_id is None else [self._terms.group_id]
        team = TeamRow(id=id_, name=name, label=id_, hidden=False, group_ids=groups, details={})
        self._session.add(team)
        teams_queries.keep(self._session, self._contest.id, [id_])
        return team

    def _refuse_same_name(self, name: str) -> None:
        """Raise Conflict where a team that everybody sees has this name; hidden ones would be told of by it."""
        wanted = _as_seen(name)
        for team in teams_queries.taking_part(self._session, self._contest):
            if not team.hidden and _as_seen(team.name) == wanted:
                raise Conflict(TAKEN_JOINABLE if self._terms.team_size > 1 else TAKEN, where="team", found=name)

    def _joined(self, code: str) -> TeamRow:
        """The team whose code this is; raises Forbidden for another code, Conflict for a team without room."""
        for row, account in accounts_queries.registered(self._session, self._contest.id):
            if row.team_code is not None and account.team_id is not None and _same_code(row.team_code, code):
                team = self._session.get_one(TeamRow, account.team_id)
                if teams_queries.accounts_of_team(self._session, team.id) >= self._terms.team_size:
                    raise Conflict(
                        N_("team %(team)r has %(count)s accounts already, as many as it may"),
                        team=team.name,
                        count=self._terms.team_size,
                    )
                return team
        raise Forbidden(
            N_("expected the code of a team that has registered for this contest, found another"), where="team_code"
        )


def _admitted(contest: ContestRow, row: RegistrationRow | None, code: str) -> RegistrationRow:
    """The terms for somebody with their code; raises Forbidden while registration is closed, and for another code."""
    if row is None:
        raise Forbidden(N_("registration for %(contest)r is not open"), contest=contest.name)
    if (closed := registration.why_closed(contest, row)) is not None:
        raise Forbidden(closed)
    if row.code is None or not _same_code(row.code, code):
        raise Forbidden(
            N_("expected the contest's code for registration, found another; ask its organisers"), where="code"
        )
    return row


def _same_code(code: str, typed: str) -> bool:
    """Whether somebody has typed this code, in capitals or without its hyphen as it may be."""
    plain_codes = [each.translate(SEPARATORS).lower().encode() for each in (code, typed)]
    return compare_digest(*plain_codes)


def _as_seen(name: str) -> str:
    return " ".join(plain(name).split())
