"""Notes what became of each method of a client, and tells it as JSON."""
import inspect
import json

outcomes = {}


async def call(name, method, *arguments, expect, **named):
    """Notes that the method did what is expected of it; an error once noted stays. Methods may be coroutines or not."""
    try:
        answer = method(*arguments, **named)
        if inspect.isawaitable(answer):
            answer = await answer
        if not expect(answer):
            raise AssertionError(f"unexpected answer {answer!r}"[:300])
        outcomes.setdefault(name, "works")
    except Exception as error:  # every kind is an outcome
        outcomes[name] = f"{type(error).__name__}: {error}"[:400]


def tell():
    print(json.dumps(dict(sorted(outcomes.items()))))
