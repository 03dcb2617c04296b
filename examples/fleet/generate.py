#!/usr/bin/env python3
"""Writes clusters.ndjson: 1,000 made-up clusters, the same ones every time. Usage: generate.py > clusters.ndjson"""
import json
import random

rng = random.Random(7)
REGIONS = {
    "eu-north": ("eu-north-a", "eu-north-b", "eu-north-c"),
    "eu-south": ("eu-south-a", "eu-south-b"),
    "us-lakes": ("us-lakes-a", "us-lakes-b", "us-lakes-c"),
    "us-coast": ("us-coast-a", "us-coast-b"),
    "ap-islands": ("ap-islands-a", "ap-islands-b", "ap-islands-c"),
    "sa-plains": ("sa-plains-a",),
}
TEAMS = ["dispatch", "sorting", "lastmile", "customs"]

for number in range(1000):
    region = rng.choice(list(REGIONS))
    env = rng.choices(["dev", "staging", "prod"], [2, 2, 6])[0]
    tier = {"dev": "edge", "staging": "standard"}.get(env) or rng.choices(["edge", "standard", "core"], [5, 3, 2])[0]
    name = f"{region}-{env}-{number:04d}"
    hosts = [f"{name}.larkspur.example"]
    if env == "prod":
        hosts += [f"{city}.track.larkspur.example" for city in rng.sample(["oslo", "turin", "gary", "napa", "cebu"], rng.randint(0, 2))]
    cluster = {
        "name": name,
        "cluster": {
            "env": env,
            "region": region,
            "tier": tier,
            "provider": rng.choice(["cloud", "cloud", "metal"]),
            "zones": list(REGIONS[region]),
        },
        "replicas": {"edge": 1, "standard": 2, "core": 6}[tier] + (rng.randint(0, 3) if env == "prod" else 0),
        "hosts": hosts,
        "features": {
            "autoscaling": env == "prod" and tier != "edge",
            "tls": env != "dev",
            "tracing": rng.random() < 0.4,
            "spot": env == "dev" or rng.random() < 0.1,
        },
    }
    if rng.random() < 0.5:
        cluster["owner"] = rng.choice(TEAMS)
    print(json.dumps(cluster, separators=(",", ":")))
