"""Self-registration: someone with a contest's code makes an account with a team of its own.

Whether there is a place left is asked again under the lock of the contest's terms, so that exactly as many register as
may. The password is hashed before, while no one waits.

- Names of people as usernames and ids.
"""

import hashlib
import re
import time
import unicodedata
from collections.abc import Callable
from hmac import compare_digest

from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts.schemas import Registration, RegistrationBody, is_id, refuse_weak
from app.accounts.service import grants, registration
from app.contests.queries import NoContest, contest_of
from app.core import clock
from app.core.clics import slug_with_letters
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


# Registrations that one address may ask for: a whole class may share it.
MOST_A_MINUTE = 60
SEPARATORS = str.maketrans("", "", "- \t")


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
        _check(session, contest_id, body)
    password_hash = hash_password(body.password)
    with service.database.write() as session:
        made = _keep(session, contest_id, body, password_hash)
    service.boards.all_changed()
    return made


def _check(
    session: Session, contest_id: str, body: RegistrationBody, *, for_update: bool = False
) -> tuple[ContestRow, RegistrationRow, str]:
    """Return the contest, its terms and the username of whoever registers; raises what `register` does."""
    contest = contest_of(session, contest_id)
    refuse_uninvited(session, contest_id, body.code)
    terms = _admitted(contest, accounts_queries.terms(session, contest_id, for_update=for_update), body.code)
    registration.refuse_full(session, contest, terms)
    username = _username(session, body)
    refuse_weak(body.password, username, body.name, body.team)
    # Of the teams that everyone sees: another refusal would tell of a hidden one.
    name, teams = body.team or body.name, teams_queries.taking_part(session, contest)
    if _as_seen(name) in {_as_seen(team.name) for team in teams if not team.hidden}:
        raise Conflict(N_("expected a name that no team of the contest has, found %(found)r"), where="team", found=name)
    return contest, terms, username


def _keep(session: Session, contest_id: str, body: RegistrationBody, password_hash: str) -> Registration:
    """Store the account, its person and its team."""
    contest, terms, username = _check(session, contest_id, body, for_update=True)
    team_name = body.team or body.name
    team_id = _free(session, TeamRow, team_name)
    groups = [] if terms.group_id is None else [terms.group_id]
    session.add(TeamRow(id=team_id, name=team_name, label=team_id, hidden=False, group_ids=groups, details={}))
    teams_queries.keep(session, contest.id, [team_id])
    account_id = username if is_id(username) else _free(session, AccountRow, username)
    person = PersonRow(id=_free(session, PersonRow, account_id), contest_id=contest.id, name=body.name)
    person.role, person.team_ids, person.details = "contestant", [team_id], {"email": body.email}
    session.add(person)
    session.flush()  # the account refers to the person
    account = AccountRow(id=account_id, username=username, password_hash=password_hash, name=body.name, type="team")
    account.team_id, account.person_id, account.created = team_id, person.id, clock.utc_now()
    session.add(account)
    session.flush()
    session.add(RegisteredRow(account_id=account_id, contest_id=contest.id, time=account.created))
    teams_queries.enrol(session, contest.id, [team_id])
    return Registration(account_id=account_id, username=username, name=body.name, team_id=team_id, team=team_name)


def _username(session: Session, body: RegistrationBody) -> str:
    """The username that was chosen, or one made of the name; random letters, as a number would count hidden ones."""
    taken = {name for pair in accounts_queries.usernames(session).items() for name in pair}  # ids count, too
    if body.username is not None:
        if body.username in taken:
            raise Conflict(N_("expected an unused one, found %(found)r"), where="username", found=body.username)
        return body.username
    base = free = username_of(body.name)
    while free in taken:
        free = f"{base}-{random_letters()}"
    return free


def _free(session: Session, table: type[AccountRow | PersonRow | TeamRow], name: str) -> str:
    """Return a free id made of a name and random letters, which are always there: others may be hidden."""
    return slug_with_letters(plain(name), lambda id_: session.get(table, id_) is not None, "team")


def _admitted(contest: ContestRow, row: RegistrationRow | None, code: str) -> RegistrationRow:
    """The terms for someone with their code; raises Forbidden while registration is closed, and for another code."""
    if row is None:
        raise Forbidden(N_("registration for %(contest)r is not open"), contest=contest.name)
    if (closed := registration.why_closed(contest, row)) is not None:
        raise Forbidden(closed)
    if row.code is None or not _same_code(row.code, code):
        raise Forbidden(
            N_("expected the contest's code for registration, found another; ask its organizers"), where="code"
        )
    return row


def refuse_uninvited(session: Session, contest_id: str, code: str) -> None:
    """Raise NoContest unless the contest is public, or private and this is its code for registration."""
    visibility, row = contest_of(session, contest_id).settings.visibility, accounts_queries.terms(session, contest_id)
    is_invited = row is not None and row.code is not None and _same_code(row.code, code)
    if visibility == "draft" or (visibility == "private" and not is_invited):
        raise NoContest(contest_id)


def _same_code(code: str, typed: str) -> bool:
    """Whether someone has typed this code, in capitals or without its hyphen as it may be."""
    plain_codes = [each.translate(SEPARATORS).lower().encode() for each in (code, typed)]
    return compare_digest(*plain_codes)


def _as_seen(name: str) -> str:
    return " ".join(plain(name).split())
