#!/usr/bin/env python3
"""Writes the fleets of two families, which measure what the defaults cost.

    generate.py tenants|config CLUSTERS FOLDER

writes `clusters.ndjson` and `shared.json` to the folder. `tenants` has about 20 small documents for each cluster, and half of its
values are shared. `config` has large texts, and nothing is shared.
"""

import json
import os
import random
import sys

WORDS = "cart billing search stock price login media audit route cache event ledger".split()


def tenants(random, at):
    spaces = [
        {"name": f"{random.choice(WORDS)}-{at}-{nth}", "share": random.randint(1, 9), "open": random.random() < 0.4}
        for nth in range(random.randint(3, 5))
    ]
    users = [f"{random.choice(WORDS)}.{random.randint(1, 999)}@example.com" for _ in range(random.randint(1, 6))]
    return {"name": f"t{at:05}", "team": f"{random.choice(WORDS)}-{at % 97}", "spaces": spaces, "users": users}


TENANTS = {
    "role": "edit",
    "ports": [8080, 9090],
    "plan": {
        "name": "standard",
        "cpu": 250,
        "memory": 512,
        "limits": {"pods": 20, "services": 5, "secrets": 40, "requests.cpu": 2, "limits.memory": 4, "configmaps": 30},
    },
}


def text(random):
    lines = [f"[{random.choice(WORDS)}]"]
    for _ in range(random.randint(20, 60)):
        key = f"{random.choice(WORDS)}.{random.choice(WORDS)}"
        lines.append(f"{'  ' * random.randint(0, 2)}{key} = {random.choice(WORDS)}:{random.randint(0, 10**6)} # {random.choice(WORDS)}")
    return "\n".join(lines)


def config(random, at):
    def one(nth):
        settings = {random.choice(WORDS) + str(key): [random.random(), random.choice(WORDS) + " é"] for key in range(20)}
        flags = {f"{random.choice(WORDS)}_{key}": f"{random.choice(WORDS)}: {random.randint(0, 999)}" for key in range(8)}
        files = [{"name": f"{random.choice(WORDS)}{file}.conf", "text": text(random)} for file in range(3)]
        return {"name": f"{random.choice(WORDS)}-{at}-{nth}", "files": files, "settings": settings, "flags": flags}

    return {"name": f"c{at:05}", "configs": [one(nth) for nth in range(2)]}


def main(family, clusters, folder):
    make, shared = {"tenants": (tenants, TENANTS), "config": (config, {})}[family]
    seeded = random.Random(family)
    with open(os.path.join(folder, "clusters.ndjson"), "w", encoding="utf-8") as file:
        for at in range(clusters):
            file.write(json.dumps(make(seeded, at), ensure_ascii=False) + "\n")
    with open(os.path.join(folder, "shared.json"), "w", encoding="utf-8") as file:
        json.dump(shared, file)


main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
