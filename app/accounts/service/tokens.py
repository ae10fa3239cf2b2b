"""Tokens: secrets that stand for an account's password in programs, and can be taken back one by one.

- Rights: who may call each operation of the API. Operations that this table omits are for
  admins alone.
"""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts.service.grants import OWNER
from app.accounts.service.viewer import Viewer, digest
from app.core import bodies, clics, clock
from app.core.db.locks import lock_names
from app.core.messages import N_, BadRequest, Conflict, Forbidden, Message, NotFound, Unauthorized
from app.tables import TokenRow

ID_LENGTH = 16
MOST = 100
# The label of tokens that logins on pages make.
SESSION = "browser"
# The cookie that holds such a token.
SESSION_COOKIE = "jurado_session"
SESSION_LASTS = timedelta(days=14)
MOST_SESSIONS = 20


@clics.example({"label": "take_part.py", "expires": "2026-12-31T00:00:00.000Z"})
class TokenBody(bodies.Body):
    """A token to be made; without an end it lasts until it is deleted."""

    label: bodies.Line | None = None
    expires: clics.Time | None = None


class TokenView(BaseModel):
    """A token without its secret."""

    id: str
    label: str
    created: str
    expires: str | None
    current: bool = Field(description="whether this request used it")


@clics.example({"id": "k3", "label": "take_part.py", "created": clics.EXAMPLES_TIME, "expires": None, "current": False,
          "token": "2Yb0mTbB3l"})  # fmt: skip
class NewToken(TokenView):
    """A token with its secret, which is shown this once."""

    token: str = Field(description="send it as `Authorization: Bearer ...`")


def listed(session: Session, viewer: Viewer) -> list[TokenView]:
    """The tokens of the viewer's account, without their secrets."""
    used = viewer.credential.digest
    return [
        TokenView.model_validate(_facts(row, used)) for row in accounts_queries.tokens(session, str(viewer.account_id))
    ]


def create(session: Session, viewer: Viewer, body: TokenBody) -> NewToken:
    """Make a token, of which only the digest is stored; raises BadRequest or Conflict."""
    now = clock.utc_now()
    if body.expires is not None and body.expires <= now:
        raise BadRequest(
            N_("expected a time to come, found %(found)s"), where="expires", found=clics.format_time(body.expires)
        )
    # Two requests at once would both see room for one more.
    lock_names(session, [f"tokens of {viewer.account_id}"])
    if len(accounts_queries.tokens(session, str(viewer.account_id))) >= MOST:
        raise Conflict(N_("the account has %(count)s tokens; revoke one first"), count=MOST)
    token = secrets.token_urlsafe(32)
    row = TokenRow(digest=digest(token), account_id=str(viewer.account_id), label=body.label or "")
    row.created, row.expires = now, body.expires
    session.add(row)
    return NewToken.model_validate({**_facts(row, viewer.credential.digest), "token": token})


def begin_session(session: Session, viewer: Viewer) -> str:
    """Make the token of a login on a page, and return its secret; the oldest of more than 20 such logins end."""
    now = clock.utc_now()
    begun = [row for row in accounts_queries.tokens(session, str(viewer.account_id)) if row.label == SESSION]
    live = [row for row in begun if row.expires is not None and row.expires > now]
    for row in set(begun) - set(live[1 - MOST_SESSIONS :]):
        session.delete(row)
    session.flush()
    body = TokenBody.model_validate({"label": SESSION, "expires": clics.format_time(now + SESSION_LASTS)})
    return create(session, viewer, body).token


def end_session(session: Session, viewer: Viewer) -> None:
    """Take the token back that the viewer is known by."""
    accounts_queries.remove_tokens(session, str(viewer.account_id), str(viewer.credential.digest))


def delete_all(session: Session, viewer: Viewer, *, others: bool) -> None:
    """Take all tokens of the viewer's account back; `others`: all but the one of this request."""
    accounts_queries.remove_tokens(session, str(viewer.account_id), but=viewer.credential.digest if others else None)


def delete(session: Session, viewer: Viewer, token_id: str) -> None:
    """Take one token of the viewer's account back; raises NotFound."""
    if len(token_id) != ID_LENGTH or not accounts_queries.remove_tokens(session, str(viewer.account_id), token_id):
        raise NotFound(N_("no token %(token)r"), token=token_id)


def _facts(row: TokenRow, used: str | None) -> dict[str, str | bool | None]:
    """The properties shown of a token, never the token itself; `used` is the digest of the request's own token."""
    return {
        "id": row.digest[:ID_LENGTH],
        "label": row.label,
        "created": clics.format_time(row.created),
        "expires": clics.format_time_or_none(row.expires),
        "current": row.digest == used,
    }


class Who(Enum):
    """Those who may call an operation; the value is the refusal of all others.

    Admins may call everything but what is for teams. An owner is a judge too. Of a contest or a problem: of the one
    that the address names. Owners of any contest may ask for what KEEPERS may: `app.accounts.service.reach` tells which
    teams and accounts are theirs.
    """

    EVERYBODY = "everybody"
    ACCOUNTS = N_("only an account may do this")
    TEAMS = N_("only a team's account may do this")
    CONTEST_JUDGES = N_("only a judge or an admin may see this")
    CONTEST_OWNERS = N_("only an owner of the contest or an admin may do this")
    PROBLEM_JUDGES = N_("only a judge or an owner of the problem or an admin may do this")
    PROBLEM_OWNERS = N_("only an owner of the problem or an admin may do this")
    KEEPERS = N_("only an owner of a contest or an admin may do this")
    AUTHORS = N_("only an owner of a problem or an admin may do this")
    ORGANISERS = N_("only an account that may own contests, or an admin may do this")
    ROLES = N_("only a judge, an owner or an admin may do this")
    JUDGES = N_("only a judge of the server or an admin may see this")
    ADMINS = N_("only an admin may do this")


TABLE: dict[Who, str] = {
    Who.EVERYBODY: """
        get_liveness get_readiness get_api_information
        list_contests get_contest get_contest_banner get_contest_logo get_contest_state get_access
        list_judgement_types get_judgement_type list_languages get_language
        get_scoreboard get_scoreboard_csv get_history stream_scoreboard get_event_feed
        list_contest_problems get_contest_problem get_statement get_statement_image get_solution
        list_testcases get_testcase_input get_inputs_zip
        list_submissions get_submission get_submission_files get_answer get_report get_image list_sources get_source
        list_judgements get_judgement list_runs get_run
        list_contest_teams get_contest_team get_team_file
        list_contest_accounts get_contest_account get_own_contest_account
        list_groups get_group list_organizations get_organization get_organization_file
        list_persons get_person get_person_file
        list_clarifications get_clarification list_awards get_award list_commentary get_commentary
        get_registration create_registration apply_password_reset
        get_todays_puzzles get_daily_puzzles get_daily_puzzle get_daily_reply
        create_game list_games get_game get_transcript create_move resign_game
    """,
    Who.ACCOUNTS: """
        get_own_account change_own_account list_tokens create_token delete_tokens delete_token
        submit stream_submissions get_quota send_clarification put_clarification create_commentary
    """,
    Who.TEAMS: """
        get_participation begin_participation get_final_inputs ask_for_final_inputs
        get_chosen_submission choose_submission clear_chosen_submission
    """,
    Who.CONTEST_JUDGES: """
        get_limits get_reveal get_similarity
        list_rejudgings get_rejudging get_rejudging_difference list_contest_roles
    """,
    Who.CONTEST_OWNERS: """
        change_contest pause_contest resume_contest delete_contest export_contest copy_contest
        add_contest_problem change_contest_problem remove_contest_problem
        enrol_teams withdraw_team change_team_in_contest reveal_places put_submission
        create_groups put_group change_group delete_group
        create_organizations put_organization change_organization delete_organization
        create_persons put_person change_person delete_person
        create_award put_award change_award delete_award
        create_rejudging apply_rejudging cancel_rejudging undo_rejudging
        put_contest_role delete_contest_role list_contest_audit create_teams import_people
        change_registration create_registration_code list_registrations
    """,
    Who.PROBLEM_JUDGES: """
        get_problem get_problem_package list_problem_roles get_verification
        list_versions get_version get_version_diff get_version_package
        create_trial
    """,
    Who.PROBLEM_OWNERS: """
        delete_problem put_testcase delete_testcase start_reference_run start_verification
        put_problem_role delete_problem_role restore_version
        import_testcases change_testcases
    """,
    Who.ORGANISERS: "create_contest create_prediction_contest create_problem import_problem",
    Who.AUTHORS: "cancel_job",
    Who.ROLES: "list_problems list_jobs get_job",
    Who.JUDGES: "list_teams get_team list_accounts get_account",
    Who.KEEPERS: """
        put_team change_team delete_team
        create_accounts put_account change_account delete_account create_password
        create_passwords create_password_resets
    """,
    Who.ADMINS: """
        import_contest get_stored_files get_status get_metrics
        list_webhooks get_webhook create_webhook change_webhook delete_webhook
        list_audit list_organisers put_organiser delete_organiser
    """,
}
# Those that need no role.
OF_ACCOUNTS = frozenset({Who.EVERYBODY, Who.ACCOUNTS, Who.TEAMS})
OPERATIONS: dict[str, Who] = {name: who for who, names in TABLE.items() for name in names.split()}


@dataclass(frozen=True, slots=True)
class Place:
    """What the address of a request names: a contest, a problem."""

    contest_id: str | None = None
    problem_id: str | None = None


def who_may(operation: str) -> Who:
    """Those who may call an operation; admins, where the table does not name it."""
    return OPERATIONS.get(operation, Who.ADMINS)


def check(who: Who, viewer: Viewer, place: Place) -> Viewer:
    """The viewer as it stands in the contest of the place; raises Unauthorized or Forbidden."""
    here = viewer.at(place.contest_id)
    if who is Who.EVERYBODY:
        return here
    if not here.logged_in:
        raise Unauthorized(N_("log in to do this"))
    if not _allowed(who, here, place):
        raise Forbidden(_refusal(who, here, place))
    return here


def _allowed(who: Who, viewer: Viewer, place: Place) -> bool:
    if who is Who.ACCOUNTS:
        return True
    if who is Who.TEAMS:
        return viewer.team_id is not None
    if viewer.is_admin:
        return True
    grants = viewer.grants
    match who:
        case Who.CONTEST_JUDGES:
            return viewer.sees_all and place.contest_id is not None
        case Who.CONTEST_OWNERS:
            return viewer.manages and place.contest_id is not None
        case Who.PROBLEM_JUDGES:
            return viewer.judges_all or place.problem_id in grants.problems
        case Who.PROBLEM_OWNERS:
            return grants.problems.get(str(place.problem_id)) == OWNER
        case Who.AUTHORS:
            return OWNER in grants.problems.values()
        case Who.KEEPERS:
            return OWNER in grants.contests.values()
        case Who.ORGANISERS:
            return grants.organiser
        case Who.ROLES:
            return viewer.judges_all or grants.any
        case Who.JUDGES:
            return viewer.judges_all
    return False


def _refusal(who: Who, viewer: Viewer, place: Place) -> Message:
    if {place.contest_id, place.problem_id} & viewer.grants.resting:
        return Message(
            N_("your role here rests while your team takes part in an undecided contest with one of its problems")
        )
    return Message(who.value)
