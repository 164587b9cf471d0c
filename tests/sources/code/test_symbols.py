"""What is found in a file of every language: the names it defines, with signatures, and those it uses."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foveal.sources.code.languages import LANGUAGES, language_of
from foveal.sources.code.symbols import DEEPEST, MOST, WIDEST, Symbols, clean, symbols

SAMPLES = {
    "python": (
        """\
LIMIT = 10

class Door(Wall):
    width: int = 3

    @property
    def key(
        self,  # ours
        spare: bool = False,
    ) -> Key:
        def inner(): ...
        return turn(spare)
""",
        """\
LIMIT
class Door(Wall)
  width: int
  def key(self, spare: bool = False) -> Key""",
        "Key Wall turn",
    ),
    "javascript": (
        """\
export const open = async (door, by = {}) => { turn(door) }
export default class Door extends Wall { #key = 1; lock(by) { return 1 } }
exports.shut = function (door) {}
console.log(1)
""",
        """\
open = async (door, by = {})
class Door extends Wall
  #key
  lock(by)
exports.shut = function (door)""",
        "Wall turn",
    ),
    "typescript": (
        """\
export interface Door<T> { open(key: T): void; wide: number }
export type Key = Ring | null
namespace Home { export function enter(door: Door<Key>): string { return '' } }
""",
        """\
interface Door<T>
  open(key: T): void
  wide: number
type Key = Ring | null
namespace Home
  function enter(door: Door<Key>): string""",
        "Ring",
    ),
    "tsx": (
        """\
export function Hall(props: Props): JSX.Element { return <Door wide={1}/> }
""",
        """\
function Hall(props: Props): JSX.Element""",
        "Door Props",
    ),
    "go": (
        """\
package home

const Wide = 3

type Door struct { key string }

func (d *Door) Open(by string) (int, error) { return turn(by) }
""",
        """\
Wide
Door struct { key string }
func (d *Door) Open(by string) (int, error)""",
        "error turn",
    ),
    "rust": (
        """\
pub struct Door<T> { key: T }
impl<T> Wall for Door<T> { fn open(&self) -> Key { turn() } }
pub const WIDE: u8 = 3;
""",
        """\
pub struct Door<T>
impl<T> Wall for Door<T>
  fn open(&self) -> Key
pub const WIDE: u8""",
        "Key Wall turn",
    ),
    "java": (
        """\
class Door extends Wall { private int wide = 3; public Key open(int by) throws Stuck { return turn(); } }
""",
        """\
class Door extends Wall
  private int wide
  public Key open(int by) throws Stuck""",
        "Key Stuck Wall turn",
    ),
    "c": (
        """\
#define WIDE 3
struct later;
struct door { int wide; };
int open(struct door *d);
static key *turn(int by) { return find(by); }
""",
        """\
#define WIDE
struct door
int open(struct door *d)
static key *turn(int by)""",
        "find key later",
    ),
    "cpp": (
        """\
namespace home { template <class T> class Door : public Wall { public: Key open(int by) const; }; }
Key home::Door::open(int by) const { return turn(by); }
""",
        """\
namespace home
  class Door : public Wall
    Key open(int by) const
Key home::Door::open(int by) const""",
        "Key Wall turn",
    ),
    "ruby": (
        """\
module Home
  WIDE = 3
  class Door < Wall
    def open(by, key: nil)
      turn(by)
    end
  end
end
""",
        """\
module Home
  WIDE
  class Door < Wall
    def open(by, key: nil)""",
        "Wall turn",
    ),
    "c_sharp": (
        """\
namespace Home { class Door : Wall { int wide = 3; public Key Lock { get; } Key Open(int by) => Turn(by); } }
""",
        """\
namespace Home
  class Door : Wall
    wide
    public Key Lock { get; }
    Key Open(int by)""",
        "Key Turn Wall",
    ),
    "php": (
        """\
<?php
class Door extends Wall { private $wide = 3; function open(int $by): ?Key { return turn($by); } }
""",
        """\
class Door extends Wall
  $wide
  function open(int $by): ?Key""",
        "Key Wall turn",
    ),
    "bash": (
        """\
WIDE=3
open_door() { turn "$WIDE"; }
""",
        """\
WIDE
open_door()""",
        "turn",
    ),
}
"""A text, its definitions as they are shown, names it uses."""
HOSTILE = ("a", " ", "(", "{", "[", '"', "\n", "class A { ", "def a(\n", "/*", "<", "a.b(", "if x:\n", "\x00")


def shown(found: Symbols) -> list[str]:
    """The signatures, each below what holds it by two spaces."""
    depths: list[int] = []
    for each in found.definitions:
        depths.append(0 if each.parent < 0 else depths[each.parent] + 1)
    return ["  " * depth + each.signature for depth, each in zip(depths, found.definitions, strict=True)]


SECRETS = {
    "python": "KEY: dict[str, str] = {'a': 'hunter2'}\nclass A:\n    key = 'hunter2'\n",
    "typescript": "export const KEY: (a: A) => B = 'hunter2'\nenum E { A = 'hunter2' }\n",
    "c": '#define KEY "hunter2"\nconst char *key = "hunter2";\nchar other[] = {"hunter2"};\n',
    "cpp": 'std::string key{"hunter2"};\nauto other = std::string("hunter2");\n',
    "c_sharp": 'class A { public string Key { get; } = "hunter2"; const string B = "hunter2"; }',
    "php": "<?php const KEY = 'hunter2'; class A { const B = 'hunter2'; }",
    "rust": 'static KEY: &str = "hunter2";',
    "go": 'package a\nvar Key, Other string = "hunter2", "hunter2"\n',
}


@pytest.mark.parametrize("language", SECRETS)
def test_no_value_of_a_constant_or_a_field_is_shown(language: str) -> None:
    found = symbols(SECRETS[language], language).definitions
    assert found
    assert [each.signature for each in found if "hunter2" in each.signature] == []


def test_there_is_a_sample_of_every_language() -> None:
    assert SAMPLES.keys() == LANGUAGES.keys()


@pytest.mark.parametrize("language", SAMPLES)
def test_definitions_are_found_with_their_signatures_and_nesting(language: str) -> None:
    text, expected, _ = SAMPLES[language]
    assert shown(symbols(text, language)) == expected.splitlines()


@pytest.mark.parametrize("language", SAMPLES)
def test_names_in_use_are_found_and_those_a_file_defines_are_its_own(language: str) -> None:
    text, _, expected = SAMPLES[language]
    found = symbols(text, language)
    assert set(expected.split()) <= set(found.used)
    assert not {each.name for each in found.definitions} & set(found.used)


def test_a_definition_knows_its_line() -> None:
    assert [each.line for each in symbols("a = 1\n\n\ndef b(): ...\n", "python").definitions] == [1, 4]


def test_what_is_in_strings_and_comments_is_not_used() -> None:
    assert symbols("# Ghost\ntext = 'Phantom'\n", "python").used == ()


def test_a_broken_file_still_yields_what_can_be_parsed() -> None:
    found = symbols("class Door:\n    def open(self): ...\n\n)))\ndef shut(", "python")
    assert shown(found)[:2] == ["class Door", "  def open(self)"]


def test_a_signature_is_one_clean_line_of_bounded_width() -> None:
    found = symbols(f"def f(a='\x1b[31m\u202e\u2028{'x' * 500}'): ...\n", "python").definitions[0]
    assert found.signature.startswith("def f(a='\\u001b[31m\\u202e ")
    assert len(found.signature) == WIDEST
    assert found.signature.isprintable()


def test_a_generated_file_has_no_more_definitions_than_are_of_use() -> None:
    text = "".join(f"a{number} = 1\n" for number in range(MOST + 100))
    assert len(symbols(text, "python").definitions) == MOST


def test_nesting_ends_where_no_reader_could_follow() -> None:
    text = "".join(f"{'  ' * depth}class A{depth}:\n" for depth in range(50)) + "  " * 50 + "b = 1\n"
    assert len(symbols(text, "python").definitions) == DEEPEST + 1


@pytest.mark.parametrize("language", sorted(LANGUAGES))
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_texts_are_read(language: str, piece: str) -> None:
    symbols(piece * 200, language)


@settings(max_examples=100)
@given(st.text(max_size=300), st.sampled_from(sorted(LANGUAGES)))
def test_any_text_in_any_language_gives_clean_lines(text: str, language: str) -> None:
    assert all(each.signature.isprintable() for each in symbols(text, language).definitions)


@given(st.text(), st.integers(1, 50))
def test_a_cleaned_text_is_printable_and_as_wide_as_asked(text: str, widest: int) -> None:
    assert clean(text, widest).isprintable()
    assert len(clean(text, widest)) <= widest


def test_cleaning_costs_the_width_and_not_the_text() -> None:
    start = time.process_time()
    for char in " (\n,a\x00":
        clean(char * 1_000_000)
    assert time.process_time() - start < 1


@pytest.mark.parametrize("path", [".py", "py", "a.py.txt", "src.py/notes", "Makefile", "a."])
def test_a_file_of_no_known_ending_has_no_language(path: str) -> None:
    assert language_of(path) is None
