"""Texts that would run, load, restyle or disorder a page if they became a part of it.

Whatever runs sets `window.__hit`, whatever becomes an element has the attribute `data-canary`, what a template computes
shows COMPUTED, and whatever is loaded is asked of a host of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

COMPUTED = "1337"
PAYLOADS: Mapping[str, str] = {
    "a script": "<script data-canary>window.__hit=1</script>",
    "an event of an image": "<img src=x data-canary onerror=window.__hit=1>",
    "an event after a quote": '" autofocus tabindex=1 data-canary onfocus=window.__hit=1 x="',
    "an event after a single quote": "' data-canary onmouseover='window.__hit=1' x='",
    "an SVG with a script": "<svg data-canary onload=window.__hit=1><script>window.__hit=1</script></svg>",
    "an SVG with a link": "<svg><a href=javascript:window.__hit=1 data-canary><text y=9>x</text></a></svg>",
    "an animation": "<svg><animate data-canary onbegin=window.__hit=1 attributeName=x dur=1s></svg>",
    "a formula with a link": "<math data-canary><mi xlink:href=javascript:window.__hit=1>x</mi></math>",
    "an address that runs": "javascript:window.__hit=1//",
    "an address of data": "data:text/html,<script>parent.__hit=1</script>",
    "links of Markdown": "[x](javascript:window.__hit=1) ![y](http://canary.test/y.png) <http://canary.test/>",
    "templates": "{{7*191}} ${7*191} #{7*191} <%=7*191%> {%print(7*191)%}",
    "ends of elements": "</textarea></title></script></option></style><b data-canary>",
    "a style sheet": "</style><style data-canary>*{display:none}</style><link rel=stylesheet href=//canary.test/a>",
    "a broken style": '"}*{display:none}body{background:url(http://canary.test/b)}',
    "a frame": "<iframe data-canary src=javascript:parent.__hit=1></iframe><object data=//canary.test/o></object>",
    "another base": "<base data-canary href=//canary.test/><meta http-equiv=refresh content=0;url=//canary.test/>",
    "another form": "</form><form data-canary action=//canary.test/><input name=password>",
    "entities": "&lt;script&gt;window.__hit=1&lt;/script&gt; &#60;b data-canary&#62; &amp;amp; &quot;",
    "a comment": "]]>--><!-- <b data-canary> <![CDATA[",
    "an end of JSON": "</script><b data-canary>\\u003c/script\\u003e \\x3cb\\x3e \u2028\u2029 '\\\"",
    "marks of direction": "\u202etxet desrever\u2066\u2067 \u200fexe.fdp",
    "characters without width": "a\u200b\u200c\u200d\u2060\ufeff\u00adb\U000e0041",
    "look-alikes": "\u0430dmin \uff1cscript\uff1ewindow.__hit=1\uff1c/script\uff1e \u00a0\u3000",
    "control characters": "\x01\x07\x08\x1b[31mred\x1b[0m\x7f\x85\x9b",
    "marks above marks": "Z" + "\u0351\u036f\u0489" * 12,
    "a face of many parts": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466" * 4,
    "a long word": "W" * 190,
    "a long word of wide characters": "\u732b" * 120,
}
LONGEST = 200
"""Characters that the shortest of places takes."""


def packs() -> list[str]:
    """The payloads in as few texts of at most LONGEST characters as they fill one after the other."""
    filled = [""]
    for payload in PAYLOADS.values():
        if len(filled[-1]) + len(payload) > LONGEST:
            filled.append("")
        filled[-1] += payload
    return filled


def texts(turn: int) -> Iterator[str]:
    """A text for each place, all packs in turn; with each `turn` every place gets another one."""
    all_ = packs()
    at = turn
    while True:
        yield all_[at % len(all_)]
        at += 1
