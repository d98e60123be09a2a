"""What every generated Python client is asked to do: a check, a bulk of checks, a group that is given a member and a role,
and a search in pages. Arguments of the programs: the address, the key of an environment."""
import importlib
import json
import pkgutil
import sys

ADDRESS, KEY = sys.argv[1:3]


def load_all(package):
    """Every module of the generated package can be loaded."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


def tell(calls):
    """Prints what came of the calls, as JSON. `calls.search` answers the ids of one page and the token of the next."""
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
