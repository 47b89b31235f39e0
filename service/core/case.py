"""What is judged."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType


class Case(Struct, kw_only=True, forbid_unknown_fields=True, gc=False, omit_defaults=True):
    """One output with whatever is known around it. An absent key means "not given", which is not the same as null."""

    output: Annotated[Any, Meta(description="What the system under test answered: any JSON.")] = UNSET
    input: Annotated[Any, Meta(description="What it was asked: any JSON.")] = UNSET
    expected: Annotated[Any, Meta(description="The reference answer, for evaluators that compare: any JSON.")] = UNSET
    context: Annotated[
        str | list[str] | UnsetType | None, Meta(description="Retrieved passages: a text or a list of texts.")
    ] = UNSET
    variables: Annotated[
        dict[str, Any] | None, Meta(description="Values for `{{name}}` in the parameters of rules.")
    ] = None
    metadata: Annotated[dict[str, Any] | UnsetType | None, Meta(description="Anything else; `from` can read it.")] = (
        UNSET
    )
