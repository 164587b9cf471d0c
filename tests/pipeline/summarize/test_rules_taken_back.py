"""Which rules end others: corrections, permissions and withdrawals do, rules about something else do not."""

from __future__ import annotations

import pytest

from foveal.pipeline.summarize.rules import rules_in, standing


def held(*said: str) -> list[str]:
    """What holds of the messages of a user, with an answer after each."""
    found = [rule for at, each in enumerate(said) for rule in rules_in(each, 2 * at)]
    return [rule.text for rule in standing(found)]


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("Don't touch file a.py.", "Don't touch file b.py."),
        ("Never delete bucket A.", "Never delete bucket B."),
        ("Do not use port 80.", "Do not use port 22."),
        ("Never deploy on Fridays.", "Never deploy on Mondays."),
        (
            "Never modify the production database schema on the primary server alpha.",
            "Never modify the production database schema on the primary server beta.",
        ),
        ("Never call the billing API.", "Never call the refund API."),
        ("Don't email Bob.", "Don't email Alice."),
        ("Never touch the migrations folder.", "Never touch the config folder."),
        ("Do not restart worker 1 or worker 2.", "Do not restart worker 3 or worker 4."),
        ("Never push.", "Never push to main."),
        ("Never push to main.", "Never push to main without a review."),
        ("Do not use tabs.", "Do not use emojis."),
        ("Don't change the API of the core package.", "Don't change the API of the web package."),
    ],
)  # fmt: skip
def test_two_prohibitions_of_different_things_both_hold(one: str, another: str) -> None:
    assert held(one, another) == [one, another]
    assert held(another, one) == [another, one]


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("Keep answers short.", "Keep the commit messages short."),
        ("Write replies in French.", "Write the README in English."),
        ("Write comments in English.", "Answer in German."),
        ("Always run the tests before committing.", "Always run the linters before committing."),
        ("Only use the staging database.", "Only use the staging bucket."),
        ("Port 8080 must stay closed.", "Port 9090 must stay closed."),
        ("My budget is 500 euros.", "The budget for the ads is 2,000 dollars."),
        ("The deadline is 3 May.", "The deadline for the docs is 9 June."),
        ("Use Python 3.11.", "Use Python 3.12 for the new service."),
        ("Use tabs in the Makefile.", "Use four spaces in the Python files."),
        ("My sister is allergic to nuts.", "My brother is allergic to nuts."),
        ("My sister lives in Lyon.", "My brother lives in Rome."),
        ("The app runs on port 80.", "The database runs on port 5432."),
        ("We deploy the app on Fridays.", "We deploy the docs on Mondays now."),
        ("Be formal with customers.", "Use a casual tone in the blog."),
        ("Always ask me before you delete a file.", "Never delete the backups."),
        ("Never modify the schema on server alpha.", "Always modify the schema on server beta first."),
        ("I don't eat pork.", "I don't drink alcohol."),
        ("Do not use port 80.", "You may use port 22."),
        ("Do not touch the vendor folder.", "You may touch the migrations folder now."),
        ("Every change needs a test.", "The tests are fine now."),
        ("Don't touch the tests.", "The tests are fine now."),
        ("I'm vegan.", "I'm not tired anymore."),
        ("Never push to main.", "No need to run the linter any more."),
        ("I'm allergic to hazelnuts.", "Peanuts are fine."),
        ("I'm allergic to peanuts and shellfish.", "I'm not allergic to shellfish anymore."),
        ("Don't touch a.py or b.py.", "You may touch a.py."),
        ("Never use eval.", "You may use eval in the parser."),
        ("Never log passwords.", "Logging passwords is okay in the tests."),
        ("I live in Ghent and work as a dental hygienist.", "Actually I moved to Antwerp last week."),
        ("Use snake_case for functions.", "Use camelCase for classes."),
        ("Don't commit without running the linter.", "Always run the linter."),
        ("Always run the tests.", "Never run the tests on production."),
        ("Never run the tests on production.", "Run it again."),
        ("Do not answer in French.", "Do not answer in German."),
        ("Don't use tabs.", "Use four spaces."),
        ("Always run the tests before you commit.", "You may change the tests."),
        ("My dog is called Rex.", "My cat is called Rex."),
        ("I have two kids.", "I have two dogs."),
        ("Never change how the login works.", "The login doesn't work any more."),
        ("Never send e-mails.", "I don't get e-mails any more."),
        ("Never touch the file.", "Edit the file again if necessary."),
    ],
)  # fmt: skip
def test_what_is_about_something_else_ends_nothing(one: str, another: str) -> None:
    assert one in held(one, another)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Never deploy on Fridays.", "Forget that, deploying on Fridays is fine now."),
        ("I'm vegan.", "I'm not vegan anymore."),
        ("I'm vegan.", "I'm no longer vegan."),
        ("I am a vegetarian.", "I eat meat again now."),
        (
            "By the way, I'm allergic to hazelnuts.",
            "Turns out it's not hazelnuts, the doctor says I'm allergic to walnuts, hazelnuts are fine.",
        ),
        ("I'm allergic to hazelnuts.", "Actually, I'm allergic to walnuts, not hazelnuts."),
        ("I'm allergic to cats.", "I'm not allergic to cats after all."),
        ("Don't use eval.", "You may use eval after all."),
        ("Never push to main.", "You can push to main after all, the branch is protected."),
        ("Never use eval.", "Ignore what I said about eval."),
        ("Never use eval.", "Actually, forget what I said about eval."),
        ("Never use eval.", "Please disregard my earlier rule about eval."),
        ("Never use eval.", "I take back what I said about eval."),
        ("Never use eval.", "Using eval is okay from now on."),
        ("Always run the tests before you commit.", "No need to run the tests before committing any more."),
        ("Always run the tests before you commit.", "You don't have to run the tests before you commit."),
        ("Always run the tests before you commit.", "You can stop running the tests before you commit."),
        ("No emojis, please.", "Emojis are fine again."),
        ("Don't use emojis.", "Scratch that, use emojis."),
        ("Only use the staging database.", "You no longer need to use only the staging database."),
        ("Answer in French.", "Stop answering in French."),
        ("Answer in French.", "Scratch that, answer in Dutch."),
        ("Use tabs.", "Never mind what I said about tabs."),
        ("Do not use tabs in the Makefile.", "Use tabs in the Makefile."),
        ("Don't touch a.py.", "Sorry, I meant don't touch b.py."),
        ("Don't spend more than 150 dollars.", "Don't spend more than 200 dollars."),
        ("Never plan a meeting before 9.", "Never plan a meeting before 10."),
        ("The deadline for the docs is 9 June.", "The deadline for the docs is 16 June."),
        ("The deadline is March 14.", "The deadline was moved to the end of the month."),
        ("We use Jenkins for CI.", "We now use GitHub Actions for CI."),
        ("I work at Acme.", "I no longer work at Acme."),
        ("I don't eat fish.", "I eat fish now."),
        ("We don't support Windows.", "We support Windows now."),
        ("The staging server is off limits.", "The staging server is no longer off limits."),
        ("Ask me before you install packages.", "You don't need to ask before installing packages anymore."),
        ("I prefer short answers.", "I changed my mind about short answers."),
        ("Do not edit the schema folder.", "It's okay to edit the schema folder now, there is a backup."),
        ("My sister's wedding is on June 14th.", "Small correction: my sister's wedding is on June 21st."),
        ("Don't mention the price.", "On second thought, mention the price."),
        ("Never push to main.", "It's fine if you push to main."),
        ("Never deploy on Fridays.", "Please ignore the Friday rule."),
        ("I'm married.", "I'm divorced now."),
        ("I don't drink coffee.", "I started drinking coffee again."),
        ("I hate cilantro.", "I like cilantro now."),
        ("Don't use tables.", "Use tables again, please."),
        ("Don't use Redis.", "We decided to use Redis after all."),
        ("Don't touch the auth module.", "Ok, now you can edit the auth module."),
        ("Don't touch the auth module.", "The auth module is no longer off limits."),
        ("Don't edit config.py.", "You may edit config.py again."),
        ("The server runs on port 8080.", "The server now runs on port 9090."),
        ("Call me Sam.", "Stop calling me Sam."),
        ("Use snake_case names.", "Use camelCase names."),
        ("Always use single quotes.", "Always use double quotes."),
        ("My manager is Anna.", "My manager is now Ben."),
        ("Jonas reviews every pull request.", "Jonas doesn't review pull requests any more."),
        ("I work at Acme.", "I left Acme."),
        ("We use Postgres, not MySQL.", "We switched back to MySQL."),
        ("My favourite colour is red.", "My favourite colour isn't red, it's blue."),
        ("Keep answers short.", "You don't have to keep answers short any more."),
        ("Never book hotels.", "Booking hotels is allowed from now on."),
        ("The main branch is frozen.", "The main branch is no longer frozen."),
    ],
)  # fmt: skip
def test_what_takes_a_rule_back_holds_in_its_place(earlier: str, later: str) -> None:
    assert held(later, earlier)[-1:] == held(earlier)
    assert held(earlier, "The app runs on port 80.", later) == ["The app runs on port 80.", later]


@pytest.mark.parametrize(
    "text", ["Scratch that.", "Forget that.", "Never mind that rule.", "I take that back."]
)
def test_a_bare_withdrawal_ends_what_was_just_said_and_says_nothing_itself(text: str) -> None:
    assert held("Call me Sam.", "Never use eval.", text) == ["Call me Sam."]
    assert held(f"Call me Sam. Never use eval. {text}") == ["Call me Sam."]
    assert held("Never use eval.", "Fix the parser.", "Thanks.", text) == ["Never use eval."]
    assert held(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Deploying on Fridays is fine now.",
        "Emojis are fine.",
        "I'm not tired anymore.",
        "You can stop running the tests.",
        "I changed my mind about the colour.",
        "I no longer need the report.",
        "Forget it, the build is broken.",
    ],
)
def test_a_permission_or_withdrawal_that_ends_nothing_does_not_hold(text: str) -> None:
    assert held(text) == []


@pytest.mark.parametrize(
    ("rule", "exception"),
    [
        ("Never use eval.", "You may use eval in the parser."),
        ("Don't touch a.py or b.py.", "You may touch a.py."),
        ("Never log passwords.", "Logging passwords is okay in the tests."),
        ("Always run the tests and the linter.", "You don't have to run the linter."),
    ],
)
def test_a_permission_for_a_part_or_a_case_holds_beside_the_rule(rule: str, exception: str) -> None:
    assert held(rule, exception) == [rule, exception]


def test_what_is_called_a_correction_holds() -> None:
    said = "Small correction: the wedding was moved, it's on June 21st now."
    assert held(said) == [said]


def test_a_rule_can_be_stated_again_after_it_was_taken_back() -> None:
    said = "Never deploy on Fridays.", "Deploying on Fridays is fine now.", "Never deploy on Fridays, please."
    assert held(*said) == [said[-1]]


PROSE = [
    "The inheritance list usually gives a list of base classes (see Metaclasses), so each item in the list "
    "should evaluate to a class object which allows subclassing.",
    "Each item in the list should evaluate to a class object.",
    "The expression must evaluate to an iterable object.",
    "The left operand must be an integer, and the right one has to be positive.",
    "Every instance of a class has a reference to that class, which must not be changed.",
    "The target list is evaluated once and should yield an iterable object.",
    "This License requires that any derived work must be distributed under the same terms.",
    "An object's type determines the operations that the object supports.",
    "Implementations may use a cache, but the result must be the same as without one.",
    "Such a section may not be included in the Modified Version.",
]
DEMANDING_PROSE = [
    "If a default value is given, all following parameters must also have a default value.",
    "Names listed in a global statement must not be used in the same code block before it.",
    "Extensions must define their own conversion behavior.",
    "You must delete all sections with that title.",
]
"""Sentences of documentation that could also be demands of the user, if they were alone."""


@pytest.mark.parametrize(
    "frame",
    [
        "Can you explain this: {}",
        "I read somewhere: {} Is that right?",
        "Someone told me {} What do you think?",
        "What does it mean? {}",
        "From the docs: {}",
        "Summarize the following text:\n\n{}",
    ],
)
@pytest.mark.parametrize("prose", [*PROSE, *DEMANDING_PROSE])
def test_a_sentence_of_documentation_is_no_rule_of_the_user(prose: str, frame: str) -> None:
    assert rules_in(frame.format(prose), 0) == ()


@pytest.mark.parametrize("prose", PROSE)
def test_a_long_or_descriptive_sentence_about_things_is_no_rule_even_alone(prose: str) -> None:
    assert rules_in(prose, 0) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Can you explain this: You must not modify the file.",
        "I read somewhere: Always use tabs. Is that right?",
        "Someone told me never to use eval. Is that right?",
        "Translate this: My name is Ana.",
        "What does this mean: Do not touch the switch. Never open the lid.",
        "Summarize: You must run the tests before each release.",
        "The docs say you should never use eval.",
        "In the article it was said that you should never use eval.",
    ],
)
def test_what_the_user_only_asks_about_is_no_rule(text: str) -> None:
    assert rules_in(text, 0) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Every change needs a test.",
        "All functions must have docstrings.",
        "Customers must be addressed by their last name.",
        "The public API must not change.",
        "Each pull request has to be reviewed by two people.",
        "The output must be valid JSON.",
        "Our servers must never be restarted without a ticket.",
        "Filenames must be lower case.",
        "Every page should have a title.",
        "My doctor says I'm allergic to walnuts.",
        "My manager says we must not deploy on Fridays.",
        "Explain everything in simple words.",
    ],
)
def test_a_short_demand_on_the_work_is_one(text: str) -> None:
    assert [rule.text for rule in rules_in(text, 0)] == [text]


@pytest.mark.parametrize("unit", ["is fine now, ", "forget that, ", "not x ", "scratch that. ", "for a "])
def test_many_corrections_take_linear_time(unit: str) -> None:
    assert len(standing(rules_in(unit * (200_000 // len(unit)), 0))) <= 12
