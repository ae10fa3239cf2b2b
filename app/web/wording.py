"""Numbers, times and rules in words, as people read them on pages."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import floor

from app.domain.contests import Carry, Clock, Counting, Direction, Kind, ScoringRule
from app.domain.settings import ContestSettings
from app.web import languages
from app.web.languages import decimal

KINDS = {
    Kind.ABSOLUTE: "points as each case gives them",
    Kind.RELATIVE: "relative to the best answer",
    Kind.RANK: "by rank among all teams",
}


def points(value: float, digits: int = 1) -> str:
    """Points with so many decimals, cut: 99.96 is no 100.0."""
    scale = 10**digits
    return decimal(f"{floor(value * scale + 1e-9) / scale:.{digits}f}")


def plain(value: float | None) -> str:
    """A raw score or points as they are; an en dash where there are none."""
    if value is None:
        return "\N{EN DASH}"
    return str(int(value)) if float(value).is_integer() else decimal(f"{value:.10g}")


def size(count: int) -> str:
    """A number of bytes, as 9.6 KB."""
    if count < 1000:
        return f"{count} B"
    return decimal(f"{count / 1000:.1f} KB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB")


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in {11, 12, 13} else "th"
    return f"{number}{ending}"


def minute(moment: datetime) -> str:
    """A moment, such as 2026-11-22 03:40 UTC."""
    return f"{languages.moment(moment, 'UTC')} UTC"


def length(time: timedelta) -> str:
    """A duration, as 5:00 (hours and minutes), or 2 d 4:00."""
    minutes = int(time.total_seconds()) // 60
    days, rest = divmod(minutes, 24 * 60)
    return f"{days} d {rest // 60}:{rest % 60:02}" if days else f"{rest // 60}:{rest % 60:02}"


def seconds(time: timedelta) -> str:
    """A contest time, as 0:40:55, or 2 d 4:10:00."""
    whole = max(0, int(time.total_seconds()))
    days, rest = divmod(whole, 24 * 3600)
    text = f"{rest // 3600}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days} d {text}" if days else text


def rule_line(rule: ScoringRule, cases: int) -> str:
    """A problem's scoring in one line below its title."""
    noun = "case" if cases == 1 else "cases"
    return f"{plain(float(rule.max_points))} points · {KINDS[rule.kind]} · {cases} {noun}"


def problem_rules(rule: ScoringRule) -> list[str]:
    """A problem's scoring, a sentence a rule."""
    better = "More is better." if rule.direction is Direction.MAXIMISE else "Less is better."
    by_kind = {
        Kind.ABSOLUTE: "Each case gives the points that its checker grants.",
        Kind.RELATIVE: "Each case gives a share of its points: your raw score against the best one of all teams.",
        Kind.RANK: "Each case gives points by the rank of your raw score among all teams.",
    }
    counting = {
        Counting.BEST_CASE: "For each case the best answer that you ever sent counts.",
        Counting.BEST: "The best of your submissions counts.",
        Counting.LAST: "Your last submission counts.",
    }
    carry = {
        Carry.BEST: "A case without a file keeps your best earlier answer.",
        Carry.LATEST: "A case without a file keeps your latest earlier answer.",
        Carry.NONE: "A case without a file gives nothing in that submission.",
    }
    sentences = [f"{by_kind[rule.kind]} {better}", counting[rule.counting]]
    if rule.counting is not Counting.BEST_CASE:
        sentences.append(carry[rule.carry])
    if rule.kind is Kind.RELATIVE:
        sentences.append("When somebody improves the best answer, everybody's points follow at once.")
    if rule.reference_counts:
        sentences.append("The judges' own answer counts among those for the best.")
    return sentences


def contest_rules(times: Clock, settings: ContestSettings) -> list[str]:
    """A contest's rules, a sentence a rule."""
    sentences = [f"The contest lasts {length(times.duration)} (hours and minutes)."]
    if settings.personal_duration is not None:
        sentences.append(f"Each team has {length(settings.personal_duration)} from the moment at which it begins.")
    if times.freeze_before_end is not None:
        sentences.append(
            f"The scoreboard stands still for everybody in the last {length(times.freeze_before_end)}; "
            "your own results stay live."
        )
    if settings.finals.used:
        sentences.append("Some cases count only after the end: the board before that is provisional.")
    if not settings.show_best:
        sentences.append("The best raw scores of other teams are not shown.")
    if settings.choose:
        sentences.append("You choose which of your submissions counts.")
    if settings.practice:
        sentences.append("Submissions after the end are judged, and change no board.")
    if settings.virtual:
        sentences.append("Teams may take part by a clock of their own after the end.")
    sentences.append("Teams with equal points are ordered by the earlier last gain.")
    return sentences
