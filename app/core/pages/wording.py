"""Numbers, times and rules in words, as people read them on pages.

- The colour of a cell of the board, by its points: eleven classes, finer near the best.
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from math import ceil

from app.contests.schemas import ContestSettings, Limits
from app.core.messages import N_
from app.core.pages import languages
from app.core.pages.languages import _, decimal, gettext, ngettext
from app.domain.contests import Aggregation, Carry, CaseKind, Clock, Counting, Direction, Group, Kind, ScoringRule
from app.domain.scoring import cut

UNITS = (("KB", 10**3), ("MB", 10**6), ("GB", 10**9))
KINDS = {
    Kind.ABSOLUTE: N_("points as each case gives them"),
    Kind.RELATIVE: N_("relative to the best answer"),
    Kind.RANK: N_("by rank among all teams"),
}

AGGREGATIONS = {
    Aggregation.SUM: N_("The points of its cases are added."),
    Aggregation.MIN: N_("The case with the smallest share decides the points of its group."),
    Aggregation.PASS_FAIL: N_("A group gives its points only if all its cases are right."),
}


# A contest of such a length has no end that matters to anyone.
ENDLESS = timedelta(days=3650)


def is_endless(times: Clock) -> bool:
    """Whether a contest continues for so long that pages say that it has no end."""
    return times.duration > ENDLESS


def points(value: float, digits: int = 1) -> str:
    """Points with so many decimals, cut: 99.96 is no 100.0."""
    return decimal(f"{cut(value, digits):.{digits}f}")


def signed(change: float, digits: int = 1) -> str:
    """Points more or less, with their sign, as +6.4; empty where so many decimals show no change."""
    if abs(change) < 0.5 / 10**digits:
        return ""
    return ("+" if change > 0 else "\N{MINUS SIGN}") + points(abs(change), digits)


def plain(value: float | None) -> str:
    """A raw score or points as they are; an en dash where there are none."""
    if value is None:
        return "\N{EN DASH}"
    return str(int(value)) if float(value).is_integer() else decimal(f"{value:.10g}")


def size(count: int) -> str:
    """A number of bytes, as 9.6 KB."""
    if count < 1000:
        return f"{count} B"
    unit, divisor = next(each for each in UNITS if count < 1000 * each[1] or each is UNITS[-1])
    return decimal(f"{count / divisor:.1f} {unit}")


def ordinal(number: int) -> str:
    """A place: 1st, 2nd, 3rd, 4th, 11th."""
    if languages.language() != languages.SOURCE:
        return _("%(number)sth", number=number)
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in {11, 12, 13} else "th"
    return f"{number}{ending}"


def minute(moment: datetime) -> str:
    """A moment, such as 2026-11-22 03:40 UTC."""
    return f"{languages.moment(moment, 'UTC')} UTC"


def length(time: timedelta) -> str:
    """A duration, as 5:00 (hours and minutes), or 2 d 4:00."""
    minutes = int(time.total_seconds()) // 60
    days, rest = divmod(minutes, 24 * 60)
    return _with_days(days, f"{rest // 60}:{rest % 60:02}")


def seconds(time: timedelta) -> str:
    """A contest time, as 0:40:55, or 2 d 4:10:00."""
    whole = max(0, int(time.total_seconds()))
    days, rest = divmod(whole, 24 * 3600)
    text = f"{rest // 3600}:{rest // 60 % 60:02}:{rest % 60:02}"
    return _with_days(days, text)


def spoken(time: timedelta) -> str:
    """Return a duration in words: seconds below two minutes, then minutes, then hours and minutes; rounded up."""
    whole = ceil(time.total_seconds())
    if whole < 120 and whole % 60:
        return _("%(seconds)s s", seconds=whole)
    minutes = ceil(whole / 60)
    if minutes < 120:
        return ngettext("%(num)s minute", "%(num)s minutes", minutes)
    return _("%(length)s (hours and minutes)", length=length(timedelta(minutes=minutes)))


def shown_time(times: Clock, time: timedelta) -> str:
    """A contest time; a date where the contest has no end."""
    moment = times.moment_of(time) if is_endless(times) else None
    return seconds(time) if moment is None else minute(moment)


def _with_days(days: int, time: str) -> str:
    return _("%(days)s d %(time)s", days=days, time=time) if days else time


def rule_line(rule: ScoringRule, cases: int, groups: Sequence[Group]) -> str:
    """Return a problem's scoring in one line below its title."""
    most = _("%(points)s points", points=plain(float(rule.max_points)))
    count = ngettext("%(num)s case", "%(num)s cases", cases)
    in_groups = any(group.max_points > 0 and group.aggregation is not Aggregation.SUM for group in groups)
    kind = _("points by groups of cases") if in_groups else languages.gettext(KINDS[rule.kind])
    return f"{most} · {kind} · {count}"


def uncounted(kind: str, phase: Collection[CaseKind]) -> str:
    """Why a case of a kind gives no points in a phase, as a message."""
    is_later = kind == CaseKind.FINAL and CaseKind.FINAL not in phase
    return N_("counts after the end") if is_later else N_("does not count")


def problem_rules(rule: ScoringRule, groups: Sequence[Group] = ()) -> list[str]:
    """Return a problem's scoring, one sentence for each rule."""
    better = _("More is better.") if rule.direction is Direction.MAXIMISE else _("Less is better.")
    by_kind = {
        Kind.ABSOLUTE: _("Each case gives the points that its checker grants."),
        Kind.RELATIVE: _("Each case gives a share of its points: your raw score against the best one of all teams."),
        Kind.RANK: _("Each case gives points by the rank of your raw score among all teams."),
    }
    counting = {
        Counting.BEST_CASE: _("For each case, your best answer counts."),
        Counting.BEST: _("The best of your submissions counts."),
        Counting.LAST: _("Your last submission counts."),
    }
    carry = {
        Carry.BEST: _("A case without a file keeps your best earlier answer."),
        Carry.LATEST: _("A case without a file keeps your latest earlier answer."),
        Carry.NONE: _("A case without a file gives nothing in that submission."),
    }
    aggregations = {group.aggregation for group in groups}
    if rule.kind is Kind.ABSOLUTE and aggregations == {Aggregation.PASS_FAIL}:
        sentences = [gettext(AGGREGATIONS[Aggregation.PASS_FAIL])]
    else:
        sentences = [f"{by_kind[rule.kind]} {better}"]
        sentences += [gettext(AGGREGATIONS[each]) for each in Aggregation if each in aggregations - {Aggregation.SUM}]
    sentences.append(counting[rule.counting])
    if rule.counting is not Counting.BEST_CASE:
        sentences.append(carry[rule.carry])
    if rule.kind is Kind.RELATIVE:
        sentences.append(_("When a team improves the best answer, the points of all teams change immediately."))
    if rule.reference_counts:
        sentences.append(_("The judges' reference answer counts toward the best score."))
    return sentences


def limit_rules(limits: Limits) -> list[str]:
    """Return the limits on the number of submissions to a problem, a sentence each."""
    sentences = []
    if (most := limits.max_submissions) is not None:
        sentences.append(
            ngettext("At most %(num)s submission to a problem.", "At most %(num)s submissions to a problem.", most)
        )
    if limits.interval_seconds is not None:
        interval = timedelta(seconds=limits.interval_seconds)
        sentences.append(_("At least %(time)s between two submissions to a problem.", time=spoken(interval)))
    if (window := limits.per_window) is not None:
        sentences.append(
            ngettext(
                "At most %(num)s submission to a problem in any %(time)s.",
                "At most %(num)s submissions to a problem in any %(time)s.",
                window.count,
                time=spoken(timedelta(seconds=window.seconds)),
            )
        )
    return sentences


def contest_rules(times: Clock, settings: ContestSettings) -> list[str]:
    """A contest's rules, a sentence a rule."""
    sentences = [
        _("The contest has no end.")
        if is_endless(times)
        else _("The contest lasts %(length)s (hours and minutes).", length=length(times.duration))
    ]
    if settings.personal_duration is not None:
        own = length(settings.personal_duration)
        sentences.append(_("Each team has %(length)s from the moment at which it begins.", length=own))
    if times.freeze_before_end is not None:
        sentences.append(
            _(
                "The scoreboard is frozen in the last %(length)s. Your own results stay live.",
                length=length(times.freeze_before_end),
            )
        )
    if settings.finals.used:
        sentences.append(_("Some cases count only after the end: the board before that is provisional."))
        if settings.finals.window is not None:
            window = spoken(settings.finals.window)
            sentences.append(
                _("Each team has %(time)s for final inputs from the moment it asks for them.", time=window)
            )
    sentences += limit_rules(settings.limits)
    if not settings.show_best:
        sentences.append(_("The best raw scores of other teams are not shown."))
    if settings.choose:
        sentences.append(_("You choose which of your submissions counts."))
    if settings.practice:
        sentences.append(_("Submissions after the end are judged but do not change the scoreboard."))
    if settings.virtual:
        sentences.append(_("After the end, teams can take part with their own clock."))
    sentences.append(_("Teams with equal points are ordered by the earlier last gain."))
    return sentences


# Points of a hundred from which each class begins; relative scores crowd near the top.
LIMITS = (0, 10, 25, 40, 55, 68, 78, 86, 92, 96, 100)


def heat(share: float) -> int:
    """The class 0..10 of a share of the points, 0..1."""
    return max(0, bisect_right(LIMITS, 100 * share + 1e-9) - 1)


def width(share: float) -> int:
    """The bar of a share of the points, in per cent: 100 only for all of them."""
    return min(100 if share >= 1 else 99, max(0, round(100 * share)))
