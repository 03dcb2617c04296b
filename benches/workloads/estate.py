#!/usr/bin/env python3
"""Measures a platform of 20 charts for many clusters in three environments beside `helm template`.

    estate.py DROPFORGE HELM CHARTS CLUSTERS

CHARTS is a folder of charts that render with their defaults. A project is written to a temporary directory and stamped twice. Then
`helm template` runs for 30 of its releases: their texts have to be the same, and their CPU time is the measure.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile

ENVIRONMENTS = ["dev", "stage", "prod"]
RELEASES = 20
SAMPLE = 30


def project(folder, charts, clusters):
    """Writes the project. Returns its releases, each with its chart, and its clusters."""
    names = sorted(os.listdir(charts))
    releases = [(names[at % len(names)] + (f"-{at // len(names)}" if at >= len(names) else ""), names[at % len(names)]) for at in range(RELEASES)]
    text = 'fleet = ["clusters.ndjson"]\nlayers = ["base.yaml", "env/{env}.yaml"]\n[output]\ndir = "out"\n'
    for name, chart in releases:
        text += f'\n[[release]]\nname = "{name}"\nchart = "{os.path.join(charts, chart)}"\nnamespace = "{name}"\n'
        text += 'values = ["releases/values.yaml", "releases/{env}.yaml"]\n'
    files = {"dropforge.toml": text, "base.yaml": "org: acme\n", "releases/values.yaml": "podAnnotations: {team: platform}\n"}
    for at, env in enumerate(ENVIRONMENTS):
        files[f"env/{env}.yaml"] = f"tier: {env}\n"
        files[f"releases/{env}.yaml"] = f"replicaCount: {at + 1}\nreplicas: {at + 1}\n"
    fleet = []
    for at in range(clusters):
        env = ENVIRONMENTS[at % 3]
        own = {releases[at % RELEASES][0]: {"podLabels": {"cluster": f"c{at}"}}}
        own[releases[(at + 7) % RELEASES][0]] = {"nodeSelector": {"pool": f"p{at % 5}"}}
        fleet.append({"name": f"{env}-{at}", "env": env, "releases": own})
    files["clusters.ndjson"] = "".join(json.dumps(cluster) + "\n" for cluster in fleet)
    for path, content in files.items():
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
    return releases, fleet


def run(command, folder):
    """Returns the CPU seconds of a command, and what it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stderr[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def main():
    dropforge, helm, charts, clusters = sys.argv[1], sys.argv[2], os.path.abspath(sys.argv[3]), int(sys.argv[4])
    with tempfile.TemporaryDirectory() as folder:
        releases, fleet = project(folder, charts, clusters)
        stamp = [dropforge, "stamp", "-q", "-j2", "--cache-dir", os.path.join(folder, "cache")]
        first, again = run(stamp, folder)[0], run(stamp, folder)[0]
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        random.seed(1)
        theirs, same = 0, 0
        for _ in range(SAMPLE):
            cluster, (name, chart) = random.choice(fleet), random.choice(releases)
            own = os.path.join(folder, "own.json")
            with open(own, "w", encoding="utf-8") as file:
                json.dump(cluster["releases"].get(name, {}), file)
            values = ["-f", "releases/values.yaml", "-f", f"releases/{cluster['env']}.yaml", "-f", own]
            taken, text = run([helm, "template", name, os.path.join(charts, chart), "-n", name, *values], folder)
            theirs += taken / SAMPLE
            one = [dropforge, "stamp", "-q", "-l", f"name={cluster['name']}", "-r", name, "--layout", "single", "--no-cache"]
            same += run(one, folder)[1] == text
        print(f"{RELEASES * clusters:,} releases: {first:.2f} s of CPU, again {again:.2f} s ({again / first:.2f} ×), {peak:.0f} MB")
        print(f"helm template: {theirs:.3f} s of CPU for one, {theirs * RELEASES * clusters / first:.0f} × in all; {same} of {SAMPLE} texts are the same")


if __name__ == "__main__":
    main()
