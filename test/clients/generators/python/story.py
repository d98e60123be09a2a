"""Makes the same calls with every generated Python client: a check, a bulk, a group with a member and a role,
and a search in pages. Arguments of the programs: address, environment key."""
import importlib
import json
import pkgutil
import sys

ADDRESS, KEY = sys.argv[1:3]


def load_all(package):
    """Loads every module of the generated package."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


def tell(calls):
    """Prints the results as JSON. `calls.search` returns the ids of a page and the next token."""
    check = calls.check("alice", "read")
    bulk = calls.bulk([("alice", "read"), ("alice", "update")])
    before = calls.check("bob", "read")
    calls.create_group("staff", "default")
    calls.add_member("staff", "bob", "default")
    calls.add_role("staff", "viewer", "d1", "default")
    after = calls.check("bob", "read")
    pages, token = [], None
    while token != "":
        ids, token = calls.search("alice", token)
        pages.append(ids)
    print(json.dumps({"check": check, "bulk": bulk, "before": before, "after": after, "pages": pages}))
