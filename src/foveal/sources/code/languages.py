"""List the languages: by file name, the grammar that parses it, and which nodes define or use a name.

Each grammar is a package of its own. Files in other languages are shown without symbols.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

CONTAINERS = frozenset({"class", "struct", "interface", "trait", "impl", "module", "namespace", "enum"})
"""Kinds whose bodies contain definitions."""
_C_NODES = (
    "function_definition=function declaration=variable type_definition=type struct_specifier=struct "
    "union_specifier=struct enum_specifier=enum preproc_def=constant preproc_function_def=function"
)
_C_THROUGH = "preproc_if preproc_ifdef preproc_else preproc_elif linkage_specification declaration_list"
_JS_NODES = (
    "function_declaration=function generator_function_declaration=function class_declaration=class "
    "method_definition=method field_definition=field variable_declarator=variable "
    "assignment_expression=function"
)
_JS_THROUGH = "export_statement lexical_declaration variable_declaration expression_statement"
_JS_NAMES = "identifier property_identifier shorthand_property_identifier"
_TS_NODES = (
    f"{_JS_NODES} interface_declaration=interface type_alias_declaration=type enum_declaration=enum "
    "abstract_class_declaration=class internal_module=namespace module=namespace function_signature=function "
    "method_signature=method abstract_method_signature=method property_signature=field "
    "public_field_definition=field"
)


@dataclass(frozen=True, slots=True)
class Language:
    """How one language is parsed."""

    module: str
    """The package of the grammar."""
    definitions: Mapping[str, str]
    """The kind of definition of each type of node."""
    through: frozenset[str]
    """Types of nodes that contain definitions without being one."""
    names: tuple[str, ...]
    """Types of nodes that are the use of a name."""
    grammar: str = "language"
    """The function of the package that returns the grammar."""


def _language(module: str, nodes: str, through: str, names: str, grammar: str = "language") -> Language:
    pairs = (pair.partition("=") for pair in nodes.split())
    kinds = MappingProxyType({node: kind for node, _, kind in pairs})
    return Language(module, kinds, frozenset(through.split()), tuple(names.split()), grammar)


LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {
        "python": _language(
            "tree_sitter_python",
            "function_definition=function class_definition=class assignment=variable "
            "type_alias_statement=type",
            "decorated_definition expression_statement if_statement else_clause elif_clause try_statement "
            "except_clause with_statement block",
            "identifier",
        ),
        "javascript": _language("tree_sitter_javascript", _JS_NODES, _JS_THROUGH, _JS_NAMES),
        "typescript": _language(
            "tree_sitter_typescript",
            _TS_NODES,
            f"{_JS_THROUGH} ambient_declaration statement_block",
            f"{_JS_NAMES} type_identifier",
            "language_typescript",
        ),
        "tsx": _language(
            "tree_sitter_typescript",
            _TS_NODES,
            f"{_JS_THROUGH} ambient_declaration statement_block",
            f"{_JS_NAMES} type_identifier",
            "language_tsx",
        ),
        "go": _language(
            "tree_sitter_go",
            "function_declaration=function method_declaration=method type_spec=type type_alias=type "
            "const_spec=constant var_spec=variable",
            "type_declaration const_declaration var_declaration var_spec_list",
            "identifier type_identifier field_identifier",
        ),
        "rust": _language(
            "tree_sitter_rust",
            "function_item=function function_signature_item=function struct_item=struct enum_item=enum "
            "union_item=struct trait_item=trait impl_item=impl mod_item=module const_item=constant "
            "static_item=variable type_item=type macro_definition=macro",
            "declaration_list foreign_mod_item",
            "identifier type_identifier field_identifier",
        ),
        "java": _language(
            "tree_sitter_java",
            "class_declaration=class interface_declaration=interface enum_declaration=enum "
            "record_declaration=class annotation_type_declaration=interface method_declaration=method "
            "constructor_declaration=method field_declaration=field constant_declaration=constant",
            "enum_body_declarations",
            "identifier type_identifier",
        ),
        "c": _language("tree_sitter_c", _C_NODES, _C_THROUGH, "identifier type_identifier field_identifier"),
        "cpp": _language(
            "tree_sitter_cpp",
            f"{_C_NODES} class_specifier=class namespace_definition=namespace field_declaration=field "
            "alias_declaration=type",
            f"{_C_THROUGH} template_declaration",
            "identifier type_identifier field_identifier namespace_identifier",
        ),
        "ruby": _language(
            "tree_sitter_ruby",
            "class=class module=module method=method singleton_method=method assignment=variable",
            "body_statement",
            "identifier constant",
        ),
        "c_sharp": _language(
            "tree_sitter_c_sharp",
            "class_declaration=class interface_declaration=interface struct_declaration=struct "
            "enum_declaration=enum record_declaration=class namespace_declaration=namespace "
            "method_declaration=method constructor_declaration=method property_declaration=field "
            "delegate_declaration=type variable_declarator=field",
            "declaration_list field_declaration variable_declaration",
            "identifier",
        ),
        "php": _language(
            "tree_sitter_php",
            "function_definition=function class_declaration=class interface_declaration=interface "
            "trait_declaration=trait enum_declaration=enum method_declaration=method const_element=constant "
            "property_element=field namespace_definition=namespace",
            "const_declaration property_declaration",
            "name",
            "language_php",
        ),
        "bash": _language(
            "tree_sitter_bash",
            "function_definition=function variable_assignment=variable",
            "declaration_command if_statement",
            "command_name variable_name",
        ),
    }
)
_ENDINGS = {
    "python": "py pyi",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c h",
    "cpp": "cc cpp cxx hh hpp hxx ino",
    "ruby": "rb rake",
    "c_sharp": "cs",
    "php": "php",
    "bash": "sh bash",
}
_BY_ENDING = {ending: name for name, endings in _ENDINGS.items() for ending in endings.split()}


def language_of(path: str) -> str | None:
    """The language of a file by its ending; None where its symbols cannot be shown.

    >>> language_of("src/app.TSX"), language_of("Makefile")
    ('tsx', None)
    """
    stem, dot, ending = path.rpartition(".")
    return _BY_ENDING.get(ending.lower()) if dot and stem else None
