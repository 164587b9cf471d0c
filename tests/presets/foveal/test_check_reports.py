"""What test runners, linters and compilers report."""

from __future__ import annotations

import json

import pytest

from foveal.pipeline.summarize.tool_calls import read_call
from foveal.presets.foveal.outcomes import outcome


def ended(command: str, result: str) -> tuple[bool | None, str]:
    found = outcome(result, read_call("Bash", json.dumps({"command": command})))
    return found.ok, found.text


PASSED = [
    (
        "pytest -q",
        "..............                    [100%]\n14 passed in 0.21s",
        "passed 14",
    ),
    (
        "pytest",
        "===== 14 passed, 2 skipped, 1 warning in 3.21s =====",
        "passed 14",
    ),
    (
        "pytest",
        "\x1b[32m===== \x1b[1m14 passed\x1b[0m, 1 rerun in 61.20s (0:01:01) =====",
        "passed 14",
    ),
    (
        "python -m unittest",
        "....\n------\nRan 4 tests in 0.001s\n\nOK",
        "passed 4",
    ),
    (
        "go test ./...",
        "ok  \tgithub.com/a/b\t0.312s\nok  \tgithub.com/a/c\t(cached)\n?   \tx\t[no test files]",
        "passed 2 packages",
    ),
    (
        "cargo test",
        "running 3 tests\n"
        "test a ... ok\n"
        "\n"
        "test result: ok. 3 passed; 0 failed; 0 ignored\n"
        "\n"
        "test result: ok. 2 passed; 0 failed;",
        "passed 5",
    ),
    (
        "npx jest",
        "Test Suites: 2 passed, 2 total\nTests:       1 skipped, 13 passed, 14 total\nTime: 2 s",
        "passed 13",
    ),
    (
        "npx vitest run",
        " Test Files  2 passed (2)\n      Tests  14 passed (14)\n   Duration  1.2s",
        "passed 14",
    ),
    (
        "npx mocha",
        "  Cart\n    ✔ adds\n\n  14 passing (20ms)\n",
        "passed 14",
    ),
    (
        "npx playwright test",
        "Running 14 tests using 2 workers\n  1 flaky\n  13 passed (5.2s)",
        "passed 14",
    ),
    (
        "mvn test",
        "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
        "passed 3",
    ),
    (
        "./gradlew test",
        "> Task :test\n\nBUILD SUCCESSFUL in 3s\n4 actionable tasks",
        "ok",
    ),
    (
        "bundle exec rspec",
        "Finished in 0.1 seconds\n14 examples, 0 failures, 1 pending",
        "passed 14",
    ),
    (
        "vendor/bin/phpunit",
        "OK (14 tests, 20 assertions)",
        "passed 14",
    ),
    (
        "dotnet test",
        "Passed!  - Failed:     0, Passed:    14, Skipped:     0, Total:    14",
        "passed 14",
    ),
    (
        "ctest",
        "100% tests passed, 0 tests failed out of 14\n\nTotal Test time (real) = 0.10 sec",
        "passed 14",
    ),
    (
        "bazel test //...",
        "//a:one_test    (cached) PASSED in 0.2s\n//a:two_test     FLAKY, failed in 1 out of 2",
        "passed 2",
    ),
    (
        "node --test a.js",
        "# tests 14\n# pass 14\n# fail 0\n# cancelled 0",
        "passed 14",
    ),
    (
        "bats test.bats",
        "1..2\nok 1 adds\nok 2 removes",
        "passed 2",
    ),
    (
        "swift test",
        "Test Suite 'All tests' passed\n\t Executed 14 tests, with 0 failures (0 unexpected) in 0.1 seconds",
        "passed 14",
    ),
    (
        "mix test",
        "Finished in 0.1 seconds\n2 doctests, 14 tests, 0 failures",
        "passed 14",
    ),
    (
        "bun test",
        " 14 pass\n 0 fail\nRan 14 tests across 2 files.",
        "passed 14",
    ),
    (
        "deno test",
        "ok | 14 passed | 0 failed (10ms)",
        "passed 14",
    ),
]


@pytest.mark.parametrize(("command", "result", "text"), PASSED, ids=[row[0] for row in PASSED])
def test_a_report_of_success_says_how_much_passed(command: str, result: str, text: str) -> None:
    assert ended(command, result) == (True, text)


FAILED = [
    (
        "pytest -q",
        "F.\n"
        "FAILED tests/test_rotate.py::test_two_tabs - AssertionError: family revoked\n"
        "1 failed, 13 passed in 0.2s",
        "FAILED 1 of 14: tests/test_rotate.py::test_two_tabs: AssertionError: family revoked",
    ),
    (
        "pytest",
        "FAILED a.py::test_a - X\nFAILED a.py::test_b - Y\n=== 2 failed, 12 passed, 1 warning in 0.2s ===",
        "FAILED 2 of 14: a.py::test_a, a.py::test_b",
    ),
    (
        "pytest",
        "ERROR tests/a.py - ImportError: no module named x\n"
        "!!! Interrupted: 1 error during collection !!!\n"
        "1 error in 0.2s",
        "FAILED 1: tests/a.py: ImportError: no module named x",
    ),
    (
        "pytest | tail -9",
        "____ test_two_tabs ____\n>  assert 1 == 2\n1 failed, 1 passed in 0.2s",
        "FAILED 1 of 2: test_two_tabs",
    ),
    (
        "python -m unittest",
        "FAIL: test_a (t.T.test_a)\n---\nRan 4 tests in 0.001s\n\nFAILED (failures=1, errors=1)",
        "FAILED 2 of 4: test_a",
    ),
    (
        "go test ./...",
        "--- FAIL: TestRotate (0.00s)\n"
        "    a_test.go:12: no\n"
        "FAIL\n"
        "FAIL\tgithub.com/a/b\t0.3s\n"
        "ok  \tgithub.com/a/c\t0.1s\n"
        "FAIL",
        "FAILED TestRotate",
    ),
    (
        "go test ./...",
        "FAIL\tgithub.com/a/b [build failed]\nFAIL\n[test] ERROR task failed",
        "FAILED github.com/a/b",
    ),
    (
        "cargo test",
        "test auth::rotates ... FAILED\ntest b ... ok\ntest result: FAILED. 13 passed; 1 failed; 0 ignored",
        "FAILED 1 of 14: auth::rotates",
    ),
    (
        "npx jest",
        "  ● Cart › adds\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 13 passed, 14 total",
        "FAILED 1 of 14: Cart › adds",
    ),
    (
        "npx jest",
        "FAIL src/a.test.js\n"
        "  ● Test suite failed to run\n"
        "\n"
        "Test Suites: 1 failed, 1 total\n"
        "Tests:       0 total",
        "FAILED 1: src/a.test.js, Test suite failed to run",
    ),
    (
        "npx vitest run",
        " FAIL  src/a.test.ts > Cart > adds\n"
        " Test Files  1 failed (1)\n"
        "      Tests  1 failed | 13 passed (14)",
        "FAILED 1 of 14: src/a.test.ts > Cart > adds",
    ),
    (
        "npx mocha",
        "  13 passing (20ms)\n  1 failing\n\n  1) Cart adds:\n     AssertionError",
        "FAILED 1 of 14: Cart adds:",
    ),
    (
        "mvn test",
        "[ERROR]   CartTest.adds:12 expected: <1> but was: <2>\n"
        "[ERROR] Tests run: 14, Failures: 1, Errors: 0, Skipped: 0\n"
        "[INFO] BUILD FAILURE",
        "FAILED 1 of 14: CartTest.adds:12 expected: <1> but was: <2>",
    ),
    (
        "./gradlew test",
        "CartTest > adds() FAILED\n"
        "    org.opentest4j.AssertionFailedError\n"
        "\n"
        "14 tests completed, 1 failed\n"
        "\n"
        "BUILD FAILED in 3s",
        "FAILED 1 of 14: CartTest > adds()",
    ),
    (
        "bundle exec rspec",
        "14 examples, 1 failure\n\nFailed examples:\n\nrspec ./spec/cart_spec.rb:7 # Cart adds",
        "FAILED 1 of 14: ./spec/cart_spec.rb:7",
    ),
    (
        "vendor/bin/phpunit",
        "1) CartTest::testAdds\n"
        "Failed asserting that 1 is 2.\n"
        "\n"
        "FAILURES!\n"
        "Tests: 14, Assertions: 20, Failures: 1.",
        "FAILED 1 of 14: CartTest::testAdds",
    ),
    (
        "dotnet test",
        "  Failed Cart.Adds [12 ms]\nFailed!  - Failed:     1, Passed:    13, Skipped:     0, Total:    14",
        "FAILED 1 of 14: Cart.Adds",
    ),
    (
        "ctest",
        "93% tests passed, 1 tests failed out of 14\n"
        "\n"
        "The following tests FAILED:\n"
        "\t  3 - cart_adds (Failed)",
        "FAILED 1 of 14: cart_adds",
    ),
    (
        "bazel test //...",
        "//a:one_test     PASSED in 0.2s\n//a:two_test     FAILED in 1.2s\n  /tmp/log",
        "FAILED 1 of 2: //a:two_test",
    ),
    (
        "node --test a.js",
        "not ok 3 - adds\n# tests 14\n# pass 13\n# fail 1",
        "FAILED 1 of 14: adds",
    ),
    (
        "bats test.bats",
        "1..2\nok 1 adds\nnot ok 2 removes",
        "FAILED 1 of 2: removes",
    ),
    (
        "swift test",
        "/a/T.swift:9: error: -[T.CartTests testAdds] : XCTAssertEqual failed\n"
        "\t Executed 14 tests, with 1 failure (0 unexpected) in 0.1 seconds",
        "FAILED 1 of 14: T.CartTests testAdds",
    ),
    (
        "mix test",
        "  1) test adds (CartTest)\n     test/cart_test.exs:5\n\n14 tests, 1 failure",
        "FAILED 1 of 14: adds",
    ),
    (
        "python run_all.py",
        "Passed: 89, Failed: 1\nWall clock: 19.4s",
        "FAILED 1 of 90",
    ),
]


@pytest.mark.parametrize(("command", "result", "text"), FAILED, ids=[row[0] for row in FAILED])
def test_a_report_of_failure_names_what_failed(command: str, result: str, text: str) -> None:
    assert ended(command, result) == (False, text)


FINE = [
    (
        "ruff check .",
        "All checks passed!",
        "ok",
    ),
    (
        "ruff check --fix .",
        "Found 3 errors (3 fixed, 0 remaining).",
        "ok, 0 issues",
    ),
    (
        "ruff format --check .",
        "12 files already formatted",
        "ok",
    ),
    (
        "mypy src",
        "Success: no issues found in 40 source files",
        "ok",
    ),
    (
        "pyright",
        "0 errors, 0 warnings, 0 informations",
        "ok, 0 issues",
    ),
    (
        "npx eslint .",
        "/a/b.js\n  3:5  warning  Unused  no-unused-vars\n\n✖ 1 problem (0 errors, 1 warning)",
        "ok, 0 issues",
    ),
    (
        "npx tsc --noEmit",
        "",
        "ok",
    ),
    (
        "golangci-lint run",
        "0 issues.",
        "ok, 0 issues",
    ),
    (
        "gcc a.c",
        "a.c:3:5: warning: unused variable 'x' [-Wunused-variable]\n[exit code: 0]",
        "ok",
    ),
    (
        "cargo build",
        "warning: `a` (lib) generated 3 warnings\n    Finished `dev` profile in 2.1s",
        "ok",
    ),
    (
        "javac A.java",
        "",
        "ok",
    ),
    (
        "dotnet build",
        "Build succeeded.\n    0 Warning(s)\n    0 Error(s)",
        "ok",
    ),
]


@pytest.mark.parametrize(("command", "result", "text"), FINE, ids=[row[0] for row in FINE])
def test_a_linter_or_compiler_without_complaints_is_ok(command: str, result: str, text: str) -> None:
    assert ended(command, result) == (True, text)


COMPLAINTS = [
    (
        "ruff check .",
        "src/a.py:1:8: F401 `os` imported but unused\nFound 1 error.",
        "failed, 1 issue: src/a.py:1:8: F401 `os` imported but unused",
    ),
    (
        "ruff format --check .",
        "Would reformat: a.py\n1 file would be reformatted",
        "failed, 1 issue",
    ),
    (
        "mypy src",
        'src/a.py:3: error: Name "x" is not defined  [name-defined]\n'
        "Found 2 errors in 1 file (checked 9 source files)",
        'failed, 2 issues: src/a.py:3: error: Name "x" is not defined [name-defined]',
    ),
    (
        "pyright",
        '  /w/a.py:3:5 - error: "x" is not defined\n2 errors, 1 warning, 0 informations',
        'failed, 2 issues: /w/a.py:3:5 - error: "x" is not defined',
    ),
    (
        "npx eslint .",
        "/a/b.js\n  3:5  error  'x' is not defined  no-undef\n\n✖ 3 problems (2 errors, 1 warning)",
        "failed, 2 issues",
    ),
    (
        "npx tsc --noEmit",
        "src/a.ts(3,5): error TS2304: Cannot find name 'x'.",
        "failed: src/a.ts(3,5): error TS2304: Cannot find name 'x'.",
    ),
    (
        "golangci-lint run",
        "a/b.go:3:2: ineffectual assignment (ineffassign)\n2 issues:\n* ineffassign: 2",
        "failed, 2 issues: a/b.go:3:2: ineffectual assignment (ineffassign)",
    ),
    (
        "gcc a.c",
        "a.c:3:5: error: expected ';' before 'return'",
        "failed: a.c:3:5: error: expected ';' before 'return'",
    ),
    (
        "cargo build",
        "error[E0425]: cannot find value `x` in this scope\n"
        "error: could not compile `a` (lib) due to 2 previous errors",
        "failed, 2 issues",
    ),
    (
        "javac A.java",
        "A.java:3: error: ';' expected\n1 error",
        "failed, 1 issue: A.java:3: error: ';' expected",
    ),
    (
        "make",
        "make: *** [Makefile:4: all] Error 2",
        "failed: make: *** [Makefile:4: all] Error 2",
    ),
    (
        "python app.py",
        "Traceback (most recent call last):\n  File \"app.py\", line 3, in <module>\nKeyError: 'x'",
        "failed: KeyError: 'x'",
    ),
]


@pytest.mark.parametrize(("command", "result", "text"), COMPLAINTS, ids=[row[0] for row in COMPLAINTS])
def test_a_complaint_is_counted_and_the_first_one_quoted(command: str, result: str, text: str) -> None:
    assert ended(command, result) == (False, text)


def test_a_run_that_was_repeated_counts_as_it_ended() -> None:
    again = "FAILED t.py::test_a - X\n1 failed, 3 passed in 0.2s\nretrying\n4 passed in 0.2s"
    assert ended("pytest || pytest", again) == (True, "passed 4")
    flaky = "--- FAIL: TestA (0.1s)\nFAIL\ta/b\t0.1s\n--- PASS: TestA (0.1s)\nok  \ta/b\t0.1s"
    assert ended("gotestsum --rerun-fails go test ./...", flaky)[0] is not False
    assert ended("go test ./...", flaky) == (True, "passed 1 package")


def test_of_two_reports_the_one_that_failed_counts() -> None:
    both = "All checks passed!\nFAILED t.py::test_a - X\n1 failed, 3 passed in 0.2s"
    assert ended("ruff check . && pytest", both)[0] is False
    assert (
        ended("pytest && mypy src", "4 passed in 0.2s\na.py:3: error: no\nFound 1 error in 1 file")[0]
        is False
    )


def test_tests_that_passed_do_not_excuse_an_exit_code() -> None:
    assert (
        ended(
            "pytest --cov", "Exit code 1\n4 passed in 0.2s\nFAIL Required test coverage of 90% not reached"
        )[0]
        is False
    )


def test_no_tests_are_neither_passed_nor_failed() -> None:
    assert ended("pytest -k nothing", "3 deselected in 0.01s\nno tests ran in 0.01s") == (
        None,
        "no tests ran",
    )
