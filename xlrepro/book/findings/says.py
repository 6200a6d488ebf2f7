"""The tag ``says``: wordings of a sentence, each with the condition under which it is true.

    <% says ort.above %>
    ORT is ahead of TRS: << ort >>.
    <% orsays ort.below %>
    ORT is behind TRS: << ort >>.
    <% otherwise %>
    Five seeds do not tell ORT from TRS: << ort >>.
    <% endsays %>

The first wording whose condition is true is shown. Without ``otherwise``, where none is true, the
page is refused: a sentence whose direction no longer agrees with its numbers is never printed.
"""

from typing import Any

from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

ENDS = ("name:orsays", "name:otherwise", "name:endsays")


class Says(Extension):
    """Parses ``says`` as an ``if`` that notes where a sentence begins and ends, or refuses."""

    tags = {"says"}  # noqa: RUF012 (jinja2 declares it without ClassVar)

    def parse(self, parser: Parser) -> nodes.Node:
        """Return the sentence as a condition with its alternatives."""
        first = choice = self._wording(parser, parser.stream.current.lineno)
        while parser.stream.current.value == "orsays":
            following = self._wording(parser, parser.stream.current.lineno)
            choice.else_ = [following]
            choice = following
        if parser.stream.skip_if("name:otherwise"):
            choice.else_ = self._sentence(parser)
        else:
            refuse = _call("_refuse", nodes.Const(first.lineno))
            choice.else_ = [refuse.set_lineno(first.lineno)]
        parser.stream.expect("name:endsays")
        return first

    def _wording(self, parser: Parser, line: int) -> nodes.If:
        next(parser.stream)
        test = parser.parse_expression()
        return nodes.If(test, self._sentence(parser), [], [], lineno=line)

    def _sentence(self, parser: Parser) -> list[nodes.Node]:
        body = parser.parse_statements(ENDS)
        return [_call("_enter"), *body, _call("_leave")]


def _call(name: str, *arguments: nodes.Expr) -> nodes.Node:
    called: Any = nodes.Call(nodes.Name(name, "load"), list(arguments), [], None, None)
    return nodes.ExprStmt(called)
