#!/bin/sh
# Stamps all clusters and pushes what changed to the branch `rendered`. CI runs it in a clone, after each merge.
set -eu
branch=rendered

dropforge check

# The branch has a history of its own. A working tree of it is the output directory.
if git fetch --quiet origin "$branch" 2>/dev/null; then
  start=FETCH_HEAD
else
  start=$(git commit-tree -m 'Rendered manifests' "$(git mktree </dev/null)")
fi
git worktree add --quiet --force -B "$branch" rendered "$start"

dropforge stamp

source=$(git rev-parse --short HEAD)
cd rendered
git add --all
git diff --cached --quiet || git commit --quiet -m "Stamp $source"
git push --quiet origin "$branch"
