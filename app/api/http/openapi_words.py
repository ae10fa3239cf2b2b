"""What /openapi.json says of tags, of parameters that many routes have, and of refusals: one sentence each."""

from __future__ import annotations

TAGS = {
    "contests": "Contests, their times and state, the problems in them, and who takes part.",
    "problems": "Problem packages on this server, and problems as a contest shows them.",
    "test cases": "The inputs of a problem, and how an admin puts and deletes single test cases.",
    "submissions": "Answer files on their way in, and what became of them.",
    "judgements": "Verdicts of submissions, and of each of their test cases (runs).",
    "judging": "The judgement types and languages that a contest has.",
    "scoreboard": "The board in CLICS rows, as a table, over time, live, and opened place by place.",
    "event feed": "Every change of a contest as it happens.",
    "webhooks": "Addresses that the server calls when something changes.",
    "clarifications": "Questions of teams, answers, and announcements.",
    "commentary": "Remarks on what happens in a contest.",
    "awards": "Medals, winners, and what else is given.",
    "teams": "Teams of the whole server, and those of a contest.",
    "accounts": "Who may log in, and the tokens with which programs do.",
    "groups": "Groups of teams, each with a board of its own.",
    "organizations": "What teams belong to: schools, firms, countries.",
    "persons": "The people in teams and around them.",
    "roles": "Who runs and judges a contest or a problem, and who may make contests.",
    "rejudgings": "Submissions judged again: silent until applied, and undoable.",
    "similarity": "Answers and sources of different teams that are alike, for judges.",
    "jobs": "Long work of the server, such as reference runs.",
    "health": "Whether the server works, and how much it does.",
}
PARAMETERS = {
    "account_id": "The id of an account.",
    "award_id": "The id of an award, such as `winner`.",
    "case_name": "The name of a test case.",
    "image_name": "The name of an image, such as teamimage.png.",
    "clarification_id": "The id of a clarification.",
    "commentary_id": "The id of a commentary message.",
    "contest_id": "The id of a contest, such as `demo`.",
    "file_name": "The name of the file, as the object's property gives it in `href`.",
    "group": "The test data group, such as `secret` or `secret/large`.",
    "job_id": "The id of a job.",
    "judgement_id": "The id of a judgement.",
    "language_id": "The id of a language; there is one, `answers`.",
    "name": "The property that has the file, such as `photo`.",
    "number": "The number of a version.",
    "object_id": "The id of the object.",
    "other_team_id": "The id of the other team.",
    "problem_id": "The id of a problem, such as `comesolo`; below a contest also its label there, such as `A`.",
    "rejudging_id": "The id of a rejudging.",
    "run_id": "The id of a run.",
    "source_id": "The id of the account that wrote it.",
    "submission_id": "The id of a submission.",
    "team_id": "The id of a team.",
    "token_id": "The id of a token.",
    "type_id": "The id of a judgement type, such as `AC`.",
    "webhook_id": "The id of a webhook.",
    "sources/{name}": "The name of a source file, folders included.",
    "statement/{path}": "The image's path as the statement names it, such as `img/board.svg`.",
    "testcases/{group}/{name}": "The name of a test case in its group.",
    "testcases/{name}": "The name of a test case.",
}
"""By the parameter's name, or by the end of the path that it stands in, which comes first."""
FILTER = "Only those whose `{name}` is this one; empty: only those without."
REFUSALS = {
    400: ("BadRequest", "What was sent is not what is expected; `message` says where, what was expected and found"),
    401: ("Unauthorized", "Nobody is logged in, or the password or token is wrong"),
    403: ("Forbidden", "The account may not do this"),
    404: ("NotFound", "There is no such thing, or this account may not know of it"),
    409: ("Conflict", "It contradicts what is kept"),
    413: ("TooLarge", "The body is larger than this route takes"),
    415: ("UnsupportedMedia", "The body's format is none that this route takes"),
    416: ("RangeNotSatisfiable", "The file has no such range of bytes"),
    429: ("TooManyRequests", "Too often; `Retry-After` has the seconds to wait, if waiting helps"),
    500: ("ServerFault", "A fault of the server, which has been logged"),
    503: ("Unavailable", "Not now, for nobody: nothing was kept, try again after `Retry-After` seconds"),
    507: ("NoRoom", "The server has no room left: nothing was kept"),
}
"""By status: the name below components/responses, and when it is answered."""
OF_ALL = frozenset({400, 401, 403, 429, 500, 503})
OF_WRITES = frozenset({409, 413, 507})
