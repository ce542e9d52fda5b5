#!/usr/bin/env bash
# One night of a judge, on any machine: audit it, hold the run against a gate, keep it in a history.
#   bash nightly.sh install    # judgeaudit, from the repository that this file lies in, into an environment of its own
#   bash nightly.sh night      # exits with the codes of docs/exit_codes.md
#   bash nightly.sh comment    # the last night's summary, on the pull request of this workflow
# Choices are variables, all optional, as the inputs of action.yml beside this file:
#   NIGHT_CONFIG NIGHT_JUDGE NIGHT_ARGUMENTS NIGHT_BASELINE NIGHT_GATE NIGHT_STORE NIGHT_OUT NIGHT_REPORTS
#   NIGHT_ALLOW_INCONCLUSIVE NIGHT_WEBHOOK NIGHT_WEBHOOK_TOKEN NIGHT_COMMENT NIGHT_EXTRAS NIGHT_PYTHON NIGHT_VENV
set -euo pipefail

HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
REPORTS="${NIGHT_REPORTS:-judgeaudit-reports}"
VENV="${NIGHT_VENV:-${RUNNER_TEMP:-$HERE}/.venv-judgeaudit}"

say() { printf '%s\n' "$*" >&2; }
refuse() { say "nightly.sh: $*"; exit 2; }

# a line end in a path would write further lines into GITHUB_OUTPUT
for name in NIGHT_BASELINE NIGHT_GATE NIGHT_STORE NIGHT_OUT NIGHT_REPORTS NIGHT_CONFIG NIGHT_JUDGE; do
  case "${!name:-}" in *$'\n'* | *$'\r'*) refuse "$name holds a line end" ;; esac
done

judgeaudit() {
  if [ -x "$VENV/bin/judgeaudit" ]; then "$VENV/bin/judgeaudit" "$@"; else command judgeaudit "$@"; fi
}

install() {
  local python="${NIGHT_PYTHON:-python3}" root extras="${NIGHT_EXTRAS:-}"
  "$python" -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' ||
    refuse "judgeaudit needs Python 3.11 or newer; '$python' is not. Set NIGHT_PYTHON"
  [[ "$extras" =~ ^[a-z,]*$ ]] || refuse "NIGHT_EXTRAS is '$extras'; write names with commas between them"
  root="$(cd "$HERE/../../.." && pwd)"
  "$python" -m venv "$VENV"
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check "$root${extras:+[$extras]}"
  judgeaudit --version
}

# tell NAME VALUE: an output of the step, on GitHub; a line of the log elsewhere
tell() { if [ -n "${GITHUB_OUTPUT:-}" ]; then printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"; else say "$1: $2"; fi; }

exists() { if [ -f "$1" ]; then printf '%s' "$1"; fi; }

word() {
  case "$1" in
    0) echo pass ;; 1) echo fail ;; 2) echo refused ;; 3) echo broken ;; 4) echo inconclusive ;;
    130) echo interrupted ;; *) echo broken ;;
  esac
}

# finish CODE VERDICT: say what became of the night, and exit
finish() {
  local code="$1" verdict="$2"
  {
    printf '## judgeaudit: %s\n\n' "$verdict"
    for part in gate.md history.md; do if [ -f "$REPORTS/$part" ]; then cat "$REPORTS/$part"; echo; fi; done
  } >"$REPORTS/summary.md"
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$REPORTS/summary.md" >>"$GITHUB_STEP_SUMMARY"; fi
  tell verdict "$verdict"
  tell exit-code "$code"
  tell run "$OUT"
  tell card-path "$(exists "$OUT/card.html")"
  tell junit-path "$(exists "$REPORTS/junit.xml")"
  tell sarif-path "$(exists "$REPORTS/gate.sarif")"
  tell summary-path "$REPORTS/summary.md"
  if [ "$code" = 4 ] && [ "${NIGHT_ALLOW_INCONCLUSIVE:-false}" = true ]; then code=0; fi
  exit "$code"
}

audit() {
  local args=(audit --out "$OUT" --plain) word
  if [ -n "${NIGHT_CONFIG:-}" ]; then args+=(--config "$NIGHT_CONFIG"); fi
  if [ -n "${NIGHT_JUDGE:-}" ]; then args+=(--judge "$NIGHT_JUDGE"); fi
  # a word a line, and nothing of it is expanded; `mapfile` is not in the bash of macOS
  while IFS= read -r word; do
    word="${word%$'\r'}"
    if [ -n "$word" ]; then args+=("$word"); fi
  done <<<"${NIGHT_ARGUMENTS:-}"
  judgeaudit "${args[@]}"
}

gate() {
  local args=(gate "$OUT" --plain --junit "$REPORTS/junit.xml" --sarif "$REPORTS/gate.sarif")
  args+=(--jsonl "$REPORTS/gate.jsonl" --markdown "$REPORTS/gate.md")
  if [ -n "${NIGHT_BASELINE:-}" ]; then args+=(--baseline "$NIGHT_BASELINE"); fi
  if [ -n "${NIGHT_GATE:-}" ]; then args+=(--config "$NIGHT_GATE"); fi
  # by name: what an argument holds, every user of the machine can read
  if [ -n "${NIGHT_WEBHOOK:-}" ]; then
    case "$NIGHT_WEBHOOK" in *://*) args+=(--webhook env:NIGHT_WEBHOOK) ;; *) args+=(--webhook "$NIGHT_WEBHOOK") ;; esac
    if [ -n "${NIGHT_WEBHOOK_TOKEN:-}" ]; then args+=(--webhook-token-env NIGHT_WEBHOOK_TOKEN); fi
  fi
  # annotations alone: the summary of the whole night is written at its end
  if [ "${GITHUB_ACTIONS:-}" = true ]; then args+=(--github); fi
  GITHUB_STEP_SUMMARY='' judgeaudit "${args[@]}"
}

# a night that is started again is in the history already, which is no error
keep() {
  local said code=0
  said="$(judgeaudit history add "$OUT" --store "$NIGHT_STORE" 2>&1)" || code=$?
  say "$said"
  case "$code,$said" in 2,*"is night "*" already"*) code=0 ;; esac
  return "$code"
}

night() {
  local code=0 gated='' kept=''
  OUT="${NIGHT_OUT:-judgeaudit-runs/$(date -u +%F)}"
  mkdir -p "$REPORTS"
  # yesterday's would be taken for tonight's
  rm -f "$REPORTS"/{junit.xml,gate.sarif,gate.jsonl,gate.md,history.md,summary.md}
  audit || code=$?
  if [ "$code" != 0 ]; then finish "$code" "$(word "$code")"; fi
  if [ -n "${NIGHT_GATE:-}${NIGHT_BASELINE:-}" ]; then
    gated=0
    gate || gated=$?
    case "$gated" in 2 | 3 | 130) finish "$gated" "$(word "$gated")" ;; esac
  fi
  if [ -n "${NIGHT_STORE:-}" ]; then
    keep || code=$?
    if [ "$code" != 0 ]; then finish "$code" "$(word "$code")"; fi
    kept=0
    judgeaudit history check --store "$NIGHT_STORE" --plain || kept=$?
    case "$kept" in 2 | 3 | 130) finish "$kept" "$(word "$kept")" ;; esac
    judgeaudit history show --store "$NIGHT_STORE" --md >"$REPORTS/history.md"
  fi
  # a change that either finds is one; the history's first night has nothing to say, so the gate's word stands
  if [ "$gated" = 1 ] || [ "$kept" = 1 ]; then finish 1 fail; fi
  if [ -z "$gated$kept" ]; then finish 0 audited; fi
  code="${gated:-$kept}"
  finish "$code" "$(word "$code")"
}

# never decides anything: a comment that fails is said
comment() {
  local number='' python="$VENV/bin/python"
  if [ "${NIGHT_COMMENT:-false}" != true ]; then return; fi
  if [ ! -s "$REPORTS/summary.md" ]; then say "no night, no comment"; return; fi
  if [ ! -x "$python" ]; then python=python3; fi
  if [ -n "${GITHUB_EVENT_PATH:-}" ]; then
    number="$("$python" -c '
import json, sys
event = json.load(open(sys.argv[1], encoding="utf-8"))
print(int(event.get("pull_request", {}).get("number") or 0) or "")' "$GITHUB_EVENT_PATH")" || number=''
  fi
  if [ -z "$number" ]; then say "not started by a pull request: no comment"; return; fi
  gh api --silent --method POST "repos/$GITHUB_REPOSITORY/issues/$number/comments" \
    -F "body=@$REPORTS/summary.md" || say "::warning title=judgeaudit::The comment could not be written"
}

case "${1:-}" in
  install | night | comment) "$1" ;;
  *) refuse "say install, night or comment" ;;
esac
