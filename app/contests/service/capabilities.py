"""Capabilities of an account in a contest, as the CLICS Contest API calls them."""

from __future__ import annotations

from app.accounts.service.viewer import Viewer
from app.contests.schemas.settings import ContestSettings
from app.core.errors import Forbidden, Unauthorized
from app.core.messages import N_

OF_ADMINS = (
    "contest_start",
    "contest_thaw",
    "proxy_submit",
    "admin_submit",
    "post_clar",
    "proxy_clar",
    "admin_clar",
    "post_comment",
)
OF_JUDGES = ("post_clar", "admin_clar")
OF_ANALYSTS = ("post_comment",)
OF_PROXIES = ("proxy_submit", "proxy_clar")
OF_TEAMS = ("team_submit", "post_clar")


def capabilities(viewer: Viewer, settings: ContestSettings, *, takes_part: bool) -> tuple[str, ...]:
    """The viewer's capabilities; `settings` are the contest's, which may let its staff act for teams."""
    if viewer.manages:
        return OF_ADMINS
    if viewer.role == "judge":
        return OF_JUDGES
    if viewer.role == "team":
        return OF_TEAMS if takes_part else ()
    if viewer.account_type == "analyst":
        return OF_ANALYSTS
    if viewer.account_type == "staff" and settings.staff_act_for_teams:
        return OF_PROXIES
    return ()


def need(viewer: Viewer, allowed: tuple[str, ...], *wanted: str) -> None:
    """Raise Unauthorized or Forbidden where the viewer has none of the capabilities wanted."""
    if not viewer.logged_in:
        raise Unauthorized(N_("log in to do this"))
    if not set(wanted) & set(allowed):
        raise Forbidden(N_("this needs one of the capabilities %(names)s"), names=", ".join(wanted))
