"""Every route with every role. A route that is not in the table fails the test, so that none is forgotten.

To add a route, add its line: the code each role gets. Routes that write are asked about things that do not exist, or
with an empty body, so that a role that may write gets 404 or 400 and nothing changes. Path parameters stand for what is
in READ and WRITE: the submission, judgement and run are of the team `team`; `other` is another team of the contest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, judgement_id
from tests.builders.described import document
from tests.builders.scoring import share
from tests.builders.service import Api, open_api
from tests.conftest import migrated_sqlite

ROLES = ("admin", "judge", "team", "other", "staff", None)
READ = {
    "contest_id": "c",
    "problem_id": "echo",
    "name": "02",
    "case_name": "02",
    "group": "secret",
    "submission_id": "1",
    "judgement_id": "1",
    "team_id": "team",
    "other_team_id": "other",
    "account_id": "team",
    "type_id": "AC",
    "language_id": "answers",
    "object_id": "none",
    "award_id": "winner",
    "clarification_id": "1",
    "commentary_id": "1",
    "file_name": "logo.png",
    "path": "cat.png",
    "token_id": "none",
    "job_id": "none",
    "webhook_id": "none",
    "rejudging_id": "none",
    "number": "1",
    "image_name": "teamimage.png",
    "game_id": "none",
    "day": "2010-02-26",
    "kind": "netgame",
    "size": "small",
}
WRITE = {**dict.fromkeys(READ, "none"), "number": "1"}
SOON = {**READ, "contest_id": "soon", "submission_id": "2", "judgement_id": "2"}

OF_NOBODY = {
    "/api/account/password-reset",
    "/api/contests/{contest_id}/registrations",
    "/api/contests/{contest_id}/problems/{problem_id}/games",
    "/api/games/{game_id}/moves",
    "/api/games/{game_id}/resign",
}
STREAMS = ("/event-feed", "/stream")

# fmt: admin judge team other staff no one
RUNNING = """
GET    /api/                                                                        200 200 200 200 200 200
GET    /api/contests                                                                200 200 200 200 200 200
POST   /api/contests                                                                400 403 403 403 403 401
POST   /api/contests/predictions                                                    400 403 403 403 403 401
GET    /api/contests/{contest_id}                                                   200 200 200 200 200 200
PATCH  /api/contests/{contest_id}                                                   404 403 403 403 403 401
DELETE /api/contests/{contest_id}                                                   404 403 403 403 403 401
GET    /api/contests/{contest_id}/state                                             200 200 200 200 200 200
POST   /api/contests/{contest_id}/copy                                              400 403 403 403 403 401
POST   /api/contests/{contest_id}/pause                                             404 403 403 403 403 401
POST   /api/contests/{contest_id}/resume                                            404 403 403 403 403 401
GET    /api/contests/{contest_id}/limits                                            200 200 403 403 403 401
GET    /api/contests/{contest_id}/reveal                                            200 200 403 403 403 401
POST   /api/contests/{contest_id}/reveal                                            404 403 403 403 403 401
GET    /api/contests/{contest_id}/participation                                     403 403 200 200 403 401
POST   /api/contests/{contest_id}/participation                                     403 403 404 404 403 401
PATCH  /api/contests/{contest_id}/teams/{team_id}                                   404 403 403 403 403 401
GET    /api/contests/{contest_id}/problems/{problem_id}/inputs                      403 403 200 200 403 401
POST   /api/contests/{contest_id}/problems/{problem_id}/inputs                      403 403 404 404 403 401
GET    /api/contests/{contest_id}/problems/{problem_id}/chosen                      403 403 200 200 403 401
PUT    /api/contests/{contest_id}/problems/{problem_id}/chosen                      403 403 404 404 403 401
DELETE /api/contests/{contest_id}/problems/{problem_id}/chosen                      403 403 404 404 403 401
GET    /api/contests/{contest_id}/problems/{problem_id}/quota                       400 400 200 200 403 401
POST   /api/contests/{contest_id}/problems                                          400 403 403 403 403 401
GET    /api/contests/{contest_id}/problems                                          200 200 200 200 200 200
PATCH  /api/contests/{contest_id}/problems/{problem_id}                             404 403 403 403 403 401
DELETE /api/contests/{contest_id}/problems/{problem_id}                             404 403 403 403 403 401
GET    /api/contests/{contest_id}/problems/{problem_id}                             200 200 200 200 200 200
GET    /api/contests/{contest_id}/access                                            200 200 200 200 200 200
GET    /api/contests/{contest_id}/event-feed                                        200 200 200 200 200 200
GET    /api/contests/{contest_id}/scoreboard/stream                                 200 200 200 200 200 200
GET    /api/contests/{contest_id}/submissions/stream                                200 200 200 200 403 401
GET    /api/contests/{contest_id}/judgement-types                                   200 200 200 200 200 200
GET    /api/contests/{contest_id}/judgement-types/{type_id}                         200 200 200 200 200 200
GET    /api/contests/{contest_id}/languages                                         200 200 200 200 200 200
GET    /api/contests/{contest_id}/languages/{language_id}                           200 200 200 200 200 200
GET    /api/contests/{contest_id}/persons                                           200 200 200 200 200 200
GET    /api/contests/{contest_id}/organizations                                     200 200 200 200 200 200
GET    /api/contests/{contest_id}/groups                                            200 200 200 200 200 200
GET    /api/contests/{contest_id}/persons/{object_id}                               404 404 404 404 404 404
GET    /api/contests/{contest_id}/organizations/{object_id}                         404 404 404 404 404 404
GET    /api/contests/{contest_id}/groups/{object_id}                                404 404 404 404 404 404
GET    /api/teams                                                                   200 200 403 403 403 401
POST   /api/teams                                                                   400 403 403 403 403 401
GET    /api/teams/{team_id}                                                         200 200 403 403 403 401
PUT    /api/teams/{team_id}                                                         400 403 403 403 403 401
PATCH  /api/teams/{team_id}                                                         404 403 403 403 403 401
DELETE /api/teams/{team_id}                                                         404 403 403 403 403 401
GET    /api/contests/{contest_id}/teams                                             200 200 200 200 200 200
POST   /api/contests/{contest_id}/teams                                             400 403 403 403 403 401
GET    /api/contests/{contest_id}/teams/{team_id}                                   200 200 200 200 200 200
DELETE /api/contests/{contest_id}/teams/{team_id}                                   404 403 403 403 403 401
GET    /api/daily                                                                   200 200 200 200 200 200
GET    /api/daily/{day}                                                             200 200 200 200 200 200
GET    /api/daily/{day}/{kind}/{size}                                               200 200 200 200 200 200
GET    /api/daily/{day}/netgame/{size}/reply                                        400 400 400 400 400 400
GET    /api/account                                                                 200 200 200 200 200 401
PATCH  /api/account                                                                 400 400 400 400 400 401
GET    /api/accounts                                                                200 200 403 403 403 401
POST   /api/accounts                                                                400 403 403 403 403 401
POST   /api/accounts/{account_id}/password                                          404 403 403 403 403 401
POST   /api/accounts/passwords                                                      400 403 403 403 403 401
POST   /api/accounts/password-resets                                                400 403 403 403 403 401
POST   /api/account/password-reset                                                  400 400 400 400 400 400
GET    /api/contests/{contest_id}/registration                                      200 200 200 200 200 200
PATCH  /api/contests/{contest_id}/registration                                      404 403 403 403 403 401
POST   /api/contests/{contest_id}/registration/code                                 404 403 403 403 403 401
GET    /api/contests/{contest_id}/registrations                                     200 403 403 403 403 401
POST   /api/contests/{contest_id}/registrations                                     400 400 400 400 400 400
POST   /api/people                                                                  400 403 403 403 403 401
GET    /api/accounts/{account_id}                                                   200 200 403 403 403 401
PUT    /api/accounts/{account_id}                                                   400 403 403 403 403 401
PATCH  /api/accounts/{account_id}                                                   404 403 403 403 403 401
DELETE /api/accounts/{account_id}                                                   404 403 403 403 403 401
GET    /api/contests/{contest_id}/accounts                                          200 200 200 200 200 404
GET    /api/contests/{contest_id}/accounts/{account_id}                             200 200 200 404 404 404
GET    /api/contests/{contest_id}/account                                           200 200 200 200 200 404
GET    /api/account/tokens                                                          200 200 200 200 200 401
POST   /api/account/tokens                                                          201 201 201 201 201 401
DELETE /api/account/tokens                                                          204 204 204 204 204 401
DELETE /api/account/tokens/{token_id}                                               404 404 404 404 404 401
GET    /api/problems                                                                200 200 403 403 403 401
POST   /api/problems                                                                415 403 403 403 403 401
POST   /api/problems/new                                                            400 403 403 403 403 401
GET    /api/problems/{problem_id}                                                   200 200 403 403 403 401
DELETE /api/problems/{problem_id}                                                   404 403 403 403 403 401
POST   /api/problems/{problem_id}/trials                                            400 400 403 403 403 401
GET    /api/problems/{problem_id}/package.zip                                       200 200 403 403 403 401
GET    /api/problems/{problem_id}/versions                                          200 200 403 403 403 401
GET    /api/problems/{problem_id}/versions/{number}                                 200 200 403 403 403 401
GET    /api/problems/{problem_id}/versions/{number}/diff                            200 200 403 403 403 401
GET    /api/problems/{problem_id}/versions/{number}/package.zip                     200 200 403 403 403 401
POST   /api/problems/{problem_id}/versions/{number}/restore                         404 403 403 403 403 401
GET    /api/contests/{contest_id}/problems/{problem_id}/statement                   200 200 200 200 200 200
GET    /api/contests/{contest_id}/problems/{problem_id}/solution                    200 200 404 404 404 404
GET    /api/contests/{contest_id}/problems/{problem_id}/statement/{path}            404 404 404 404 404 404
GET    /api/contests/{contest_id}/problems/{problem_id}/testcases                   200 200 200 200 200 200
GET    /api/contests/{contest_id}/problems/{problem_id}/testcases/{name}/input      200 200 200 200 200 200
GET    /api/contests/{contest_id}/problems/{problem_id}/inputs.zip                  200 200 200 200 200 200
PUT    /api/problems/{problem_id}/testcases/{group}/{name}                          400 403 403 403 403 401
POST   /api/problems/{problem_id}/testcases                                         415 403 403 403 403 401
PATCH  /api/problems/{problem_id}/testcases                                         404 403 403 403 403 401
DELETE /api/problems/{problem_id}/testcases/{group}/{name}                          404 403 403 403 403 401
POST   /api/contests/{contest_id}/submissions                                       400 403 400 400 403 401
GET    /api/contests/{contest_id}/submissions                                       200 200 200 200 200 200
GET    /api/contests/{contest_id}/submissions/{submission_id}                       200 200 200 200 200 200
GET    /api/contests/{contest_id}/submissions/{submission_id}/files                 200 200 200 403 403 403
GET    /api/contests/{contest_id}/submissions/{submission_id}/answers/{case_name}   200 200 200 403 403 403
GET    /api/contests/{contest_id}/submissions/{submission_id}/images/{case_name}/{image_name} 404 404 404 403 403 403
GET    /api/contests/{contest_id}/games                                             200 200 200 200 200 200
POST   /api/contests/{contest_id}/problems/{problem_id}/games                       404 404 404 404 404 404
GET    /api/games/{game_id}                                                         404 404 404 404 404 404
GET    /api/games/{game_id}/transcript                                              404 404 404 404 404 404
POST   /api/games/{game_id}/moves                                                   400 400 400 400 400 400
POST   /api/games/{game_id}/resign                                                  404 404 404 404 404 404
GET    /api/contests/{contest_id}/submissions/{submission_id}/report                200 200 200 403 403 403
GET    /api/contests/{contest_id}/submissions/{submission_id}/sources               200 200 200 403 403 403
GET    /api/contests/{contest_id}/submissions/{submission_id}/sources/{name}        404 404 404 403 403 403
GET    /api/contests/{contest_id}/similarity                                        200 200 403 403 403 401
GET    /api/contests/{contest_id}/judgements                                        200 200 200 200 200 200
GET    /api/contests/{contest_id}/judgements/{judgement_id}                         200 200 200 200 200 200
GET    /api/contests/{contest_id}/runs                                              200 200 200 200 200 200
GET    /api/contests/{contest_id}/runs/{run_id}                                     200 200 200 404 404 404
GET    /api/contests/{contest_id}/scoreboard                                        200 200 200 200 200 200
GET    /api/contests/{contest_id}/scoreboard.csv                                    200 200 200 200 200 200
GET    /api/contests/{contest_id}/scores/history                                    200 200 200 200 200 200
POST   /api/contests/{contest_id}/rejudgings                                        400 403 403 403 403 401
GET    /api/contests/{contest_id}/rejudgings                                        200 200 403 403 403 401
GET    /api/contests/{contest_id}/rejudgings/{rejudging_id}                         404 404 403 403 403 401
GET    /api/contests/{contest_id}/rejudgings/{rejudging_id}/difference              404 404 403 403 403 401
POST   /api/contests/{contest_id}/rejudgings/{rejudging_id}/apply                   404 403 403 403 403 401
POST   /api/contests/{contest_id}/rejudgings/{rejudging_id}/cancel                  404 403 403 403 403 401
POST   /api/contests/{contest_id}/rejudgings/{rejudging_id}/undo                    404 403 403 403 403 401
POST   /api/problems/{problem_id}/reference-runs                                    404 403 403 403 403 401
POST   /api/problems/{problem_id}/verification                                      404 403 403 403 403 401
GET    /api/problems/{problem_id}/verification                                      404 404 403 403 403 401
GET    /api/webhooks                                                                200 403 403 403 403 401
POST   /api/webhooks                                                                400 403 403 403 403 401
GET    /api/webhooks/{webhook_id}                                                   404 403 403 403 403 401
PATCH  /api/webhooks/{webhook_id}                                                   400 403 403 403 403 401
DELETE /api/webhooks/{webhook_id}                                                   404 403 403 403 403 401
GET    /api/jobs                                                                    200 200 403 403 403 401
GET    /api/stored-files                                                            200 403 403 403 403 401
GET    /api/status                                                                  200 403 403 403 403 401
GET    /api/jobs/{job_id}                                                           404 404 403 403 403 401
DELETE /api/jobs/{job_id}                                                           404 403 403 403 403 401
GET    /health/live                                                                 200 200 200 200 200 200
GET    /health/ready                                                                200 200 200 200 200 200
GET    /metrics                                                                     200 403 403 403 403 401
GET    /api/contests/{contest_id}/awards                                            200 200 200 200 200 200
POST   /api/contests/{contest_id}/awards                                            404 403 403 403 403 401
DELETE /api/contests/{contest_id}/awards/{award_id}                                 404 403 403 403 403 401
GET    /api/contests/{contest_id}/awards/{award_id}                                 200 200 200 200 200 200
PATCH  /api/contests/{contest_id}/awards/{award_id}                                 404 403 403 403 403 401
PUT    /api/contests/{contest_id}/awards/{award_id}                                 404 403 403 403 403 401
GET    /api/contests/{contest_id}/banner/{file_name}                                404 404 404 404 404 404
GET    /api/contests/{contest_id}/clarifications                                    200 200 200 200 200 200
POST   /api/contests/{contest_id}/clarifications                                    404 404 404 404 404 401
GET    /api/contests/{contest_id}/clarifications/{clarification_id}                 404 404 404 404 404 404
PUT    /api/contests/{contest_id}/clarifications/{clarification_id}                 404 404 404 404 404 401
GET    /api/contests/{contest_id}/commentary                                        200 200 200 200 200 200
POST   /api/contests/{contest_id}/commentary                                        404 404 404 404 404 401
GET    /api/contests/{contest_id}/commentary/{commentary_id}                        404 404 404 404 404 404
POST   /api/contests/{contest_id}/groups                                            404 403 403 403 403 401
DELETE /api/contests/{contest_id}/groups/{object_id}                                404 403 403 403 403 401
PATCH  /api/contests/{contest_id}/groups/{object_id}                                404 403 403 403 403 401
PUT    /api/contests/{contest_id}/groups/{object_id}                                404 403 403 403 403 401
GET    /api/contests/{contest_id}/logo/{file_name}                                  404 404 404 404 404 404
POST   /api/contests/{contest_id}/organizations                                     404 403 403 403 403 401
DELETE /api/contests/{contest_id}/organizations/{object_id}                         404 403 403 403 403 401
PATCH  /api/contests/{contest_id}/organizations/{object_id}                         404 403 403 403 403 401
PUT    /api/contests/{contest_id}/organizations/{object_id}                         404 403 403 403 403 401
GET    /api/contests/{contest_id}/organizations/{object_id}/{name}/{file_name}      404 404 404 404 404 404
POST   /api/contests/{contest_id}/persons                                           404 403 403 403 403 401
DELETE /api/contests/{contest_id}/persons/{object_id}                               404 403 403 403 403 401
PATCH  /api/contests/{contest_id}/persons/{object_id}                               404 403 403 403 403 401
PUT    /api/contests/{contest_id}/persons/{object_id}                               404 403 403 403 403 401
GET    /api/contests/{contest_id}/persons/{object_id}/{name}/{file_name}            404 404 404 404 404 404
PUT    /api/contests/{contest_id}/submissions/{submission_id}                       400 403 403 403 403 401
GET    /api/contests/{contest_id}/teams/{team_id}/{name}/{file_name}                404 404 404 404 404 404
POST   /api/contests/import                                                         415 403 403 403 403 401
GET    /api/contests/{contest_id}/package.zip                                       200 403 403 403 403 401
GET    /api/contests/{contest_id}/roles                                             200 200 403 403 403 401
PUT    /api/contests/{contest_id}/roles/{account_id}                                400 403 403 403 403 401
DELETE /api/contests/{contest_id}/roles/{account_id}                                404 403 403 403 403 401
GET    /api/problems/{problem_id}/roles                                             200 200 403 403 403 401
PUT    /api/problems/{problem_id}/roles/{account_id}                                400 403 403 403 403 401
DELETE /api/problems/{problem_id}/roles/{account_id}                                404 403 403 403 403 401
GET    /api/organisers                                                              200 403 403 403 403 401
GET    /api/audit                                                                   200 403 403 403 403 401
GET    /api/contests/{contest_id}/audit                                             200 403 403 403 403 401
PUT    /api/organisers/{account_id}                                                 404 403 403 403 403 401
DELETE /api/organisers/{account_id}                                                 404 403 403 403 403 401
"""

BEFORE = """
GET    /api/contests/{contest_id}/registration                                      200 200 200 200 200 200
GET    /api/contests/{contest_id}/registrations                                     200 403 403 403 403 401
GET    /api/contests/{contest_id}/limits                                            200 200 403 403 403 401
GET    /api/contests/{contest_id}/reveal                                            200 200 403 403 403 401
GET    /api/contests/{contest_id}/participation                                     403 403 200 200 403 401
GET    /api/contests/{contest_id}/problems/{problem_id}/inputs                      403 403 404 404 403 401
GET    /api/contests/{contest_id}/problems/{problem_id}/chosen                      403 403 404 404 403 401
GET    /api/contests/{contest_id}/problems/{problem_id}/quota                       400 400 404 404 404 401
GET    /api/contests/{contest_id}                                                   200 200 200 200 200 200
GET    /api/contests/{contest_id}/state                                             200 200 200 200 200 200
GET    /api/contests/{contest_id}/problems                                          200 200 200 200 200 200
GET    /api/contests/{contest_id}/problems/{problem_id}                             200 200 404 404 404 404
GET    /api/contests/{contest_id}/access                                            200 200 200 200 200 200
GET    /api/contests/{contest_id}/event-feed                                        200 200 200 200 200 200
GET    /api/contests/{contest_id}/scoreboard/stream                                 200 200 200 200 200 200
GET    /api/contests/{contest_id}/submissions/stream                                200 200 200 200 403 401
GET    /api/contests/{contest_id}/judgement-types                                   200 200 200 200 200 200
GET    /api/contests/{contest_id}/judgement-types/{type_id}                         200 200 200 200 200 200
GET    /api/contests/{contest_id}/languages                                         200 200 200 200 200 200
GET    /api/contests/{contest_id}/languages/{language_id}                           200 200 200 200 200 200
GET    /api/contests/{contest_id}/persons                                           200 200 200 200 200 200
GET    /api/contests/{contest_id}/organizations                                     200 200 200 200 200 200
GET    /api/contests/{contest_id}/groups                                            200 200 200 200 200 200
GET    /api/contests/{contest_id}/persons/{object_id}                               404 404 404 404 404 404
GET    /api/contests/{contest_id}/organizations/{object_id}                         404 404 404 404 404 404
GET    /api/contests/{contest_id}/groups/{object_id}                                404 404 404 404 404 404
GET    /api/contests/{contest_id}/teams                                             200 200 200 200 200 200
GET    /api/contests/{contest_id}/teams/{team_id}                                   200 200 200 200 200 200
GET    /api/contests/{contest_id}/accounts                                          200 200 200 200 200 404
GET    /api/contests/{contest_id}/accounts/{account_id}                             200 200 200 404 404 404
GET    /api/contests/{contest_id}/account                                           200 200 200 200 200 404
GET    /api/contests/{contest_id}/problems/{problem_id}/statement                   200 200 404 404 404 404
GET    /api/contests/{contest_id}/problems/{problem_id}/solution                    200 200 404 404 404 404
GET    /api/contests/{contest_id}/problems/{problem_id}/statement/{path}            404 404 404 404 404 404
GET    /api/contests/{contest_id}/problems/{problem_id}/testcases                   200 200 404 404 404 404
GET    /api/contests/{contest_id}/problems/{problem_id}/testcases/{name}/input      200 200 404 404 404 404
GET    /api/contests/{contest_id}/problems/{problem_id}/inputs.zip                  200 200 404 404 404 404
GET    /api/contests/{contest_id}/submissions                                       200 200 200 200 200 200
GET    /api/contests/{contest_id}/submissions/{submission_id}                       200 200 200 404 404 404
GET    /api/contests/{contest_id}/submissions/{submission_id}/files                 200 200 200 404 404 404
GET    /api/contests/{contest_id}/submissions/{submission_id}/answers/{case_name}   200 200 200 404 404 404
GET    /api/contests/{contest_id}/submissions/{submission_id}/images/{case_name}/{image_name} 404 404 404 404 404 404
GET    /api/contests/{contest_id}/games                                             200 200 200 200 200 200
GET    /api/contests/{contest_id}/submissions/{submission_id}/report                200 200 200 404 404 404
GET    /api/contests/{contest_id}/submissions/{submission_id}/sources               200 200 200 404 404 404
GET    /api/contests/{contest_id}/submissions/{submission_id}/sources/{name}        404 404 404 404 404 404
GET    /api/contests/{contest_id}/similarity                                        200 200 403 403 403 401
GET    /api/contests/{contest_id}/judgements                                        200 200 200 200 200 200
GET    /api/contests/{contest_id}/judgements/{judgement_id}                         200 200 200 404 404 404
GET    /api/contests/{contest_id}/runs                                              200 200 200 200 200 200
GET    /api/contests/{contest_id}/runs/{run_id}                                     200 200 200 404 404 404
GET    /api/contests/{contest_id}/rejudgings                                        200 200 403 403 403 401
GET    /api/contests/{contest_id}/rejudgings/{rejudging_id}                         404 404 403 403 403 401
GET    /api/contests/{contest_id}/rejudgings/{rejudging_id}/difference              404 404 403 403 403 401
GET    /api/contests/{contest_id}/scoreboard                                        200 200 200 200 200 200
GET    /api/contests/{contest_id}/awards                                            200 200 200 200 200 200
GET    /api/contests/{contest_id}/awards/{award_id}                                 200 200 200 200 200 200
GET    /api/contests/{contest_id}/banner/{file_name}                                404 404 404 404 404 404
GET    /api/contests/{contest_id}/clarifications                                    200 200 200 200 200 200
GET    /api/contests/{contest_id}/clarifications/{clarification_id}                 404 404 404 404 404 404
GET    /api/contests/{contest_id}/commentary                                        200 200 200 200 200 200
GET    /api/contests/{contest_id}/commentary/{commentary_id}                        404 404 404 404 404 404
GET    /api/contests/{contest_id}/logo/{file_name}                                  404 404 404 404 404 404
GET    /api/contests/{contest_id}/organizations/{object_id}/{name}/{file_name}      404 404 404 404 404 404
GET    /api/contests/{contest_id}/persons/{object_id}/{name}/{file_name}            404 404 404 404 404 404
GET    /api/contests/{contest_id}/teams/{team_id}/{name}/{file_name}                404 404 404 404 404 404
GET    /api/contests/{contest_id}/scoreboard.csv                                    200 200 200 200 200 200
GET    /api/contests/{contest_id}/scores/history                                    200 200 200 200 200 200
GET    /api/contests/{contest_id}/package.zip                                       200 403 403 403 403 401
GET    /api/contests/{contest_id}/audit                                             200 403 403 403 403 401
GET    /api/contests/{contest_id}/roles                                             200 200 403 403 403 401
"""


def parse(table: str) -> dict[tuple[str, str], list[int]]:
    """Read a table: method, path, and a code for each role."""
    rows = [line.split() for line in table.strip().splitlines()]
    return {(row[0], row[1]): [int(code) for code in row[2:]] for row in rows}


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """One service for all rows: with a running contest and one that has not begun, each with a submission of `team`."""
    folder = tmp_path_factory.mktemp("walk")
    url = migrated_sqlite(folder / "walk.sqlite")
    with open_api(url, folder / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        add_contest(api.service, "soon", started=-HOUR)
        add_submission(api.service, {"02": share(1)})
        add_submission(api.service, {"02": share(1)}, contest_id="soon")
        yield api


def routes() -> set[tuple[str, str]]:
    """Every method of every route, as the API describes itself."""
    return {(method.upper(), path) for path, operations in document()["paths"].items() for method in operations}


def run_of(api: Api, values: dict[str, str]) -> str:
    """The first run of a contest."""
    runs = api.get(f"contests/{values['contest_id']}/runs", user="admin").json()
    return str(runs[0]["id"])


def walk(api: Api, method: str, path: str, values: dict[str, str]) -> list[int]:
    """Ask as every role."""
    known = {**values, "run_id": run_of(api, values)} if "{run_id}" in path else values
    if "{judgement_id}" in path:
        known = {**values, "judgement_id": judgement_id(api.service, values["judgement_id"], values["contest_id"])}
    filled = re.sub(r"\{(\w+)\}", lambda found: known[found[1]], path)
    filled += "?stream=false" if path.endswith(STREAMS) else ""  # else they do not end
    body = {} if method in {"POST", "PUT", "PATCH"} else None
    return [api.request(method, filled, user=role, json=body).status_code for role in ROLES]


def test_every_route_is_in_the_table(walked: Api) -> None:
    assert routes() == set(parse(RUNNING))


def test_every_role_may_do_what_the_table_says(walked: Api) -> None:
    table = parse(RUNNING)
    found = {route: walk(walked, *route, READ if route[0] == "GET" else WRITE) for route in table}
    assert found == table


def test_the_routes_of_a_contest_are_all_asked_before_its_start(walked: Api) -> None:
    reading = {(method, path) for method, path in parse(RUNNING) if method == "GET" and "{contest_id}" in path}
    assert reading == set(parse(BEFORE))


def test_every_role_may_read_what_the_table_says_before_the_start(walked: Api) -> None:
    table = parse(BEFORE)
    assert {route: walk(walked, *route, SOON) for route in table} == table


@pytest.mark.parametrize("collection", ["problems", "submissions", "judgements", "runs"])
def test_collections_are_empty_before_the_start(walked: Api, collection: str) -> None:
    assert walked.get(f"contests/soon/{collection}").json() == []
    assert walked.get(f"contests/soon/{collection}", user="other").json() == []


def test_a_wrong_password_opens_nothing(walked: Api) -> None:
    outside = {"/health/live", "/health/ready"}
    for method, path in routes():
        filled = re.sub(r"\{\w+\}", "none", path)
        wrong = walked.request(method, filled, headers={"Authorization": "Bearer wrong"}, json={})
        assert wrong.status_code == 401 or path in outside, (method, path)


def test_the_table_gives_nobody_what_it_refuses_a_team() -> None:
    """Who is not logged in may do no more than a team of the contest, a team no more than a judge may see."""
    for codes in [*parse(RUNNING).values(), *parse(BEFORE).values()]:
        admin, judge, team, other, staff, nobody = (code < 400 for code in codes)
        assert nobody <= staff <= other <= team
        assert judge <= admin


def test_nobody_may_write_without_an_account_but_to_get_one_or_its_password() -> None:
    writing = {path: codes[-1] for (method, path), codes in parse(RUNNING).items() if method != "GET"}
    assert {path for path, code in writing.items() if code != 401} == OF_NOBODY
