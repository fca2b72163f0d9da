#!/bin/sh
# Runs inside the image: starts its command, opens a session, runs a script in
# it and checks the result.
set -eu

fail() {
  echo "image-check: $*" >&2
  sed 's/^/  server: /' /tmp/server.log >&2
  exit 1
}

export TAKEOVER_API_KEY=a-key-of-this-test-only TAKEOVER_DEMO=true
# shellcheck disable=SC2086
$COMMAND >/tmp/server.log 2>&1 &
server=$!

tries=0
until grep -q '^listening on' /tmp/server.log; do
  kill -0 "$server" 2>/dev/null || fail "the server ended"
  tries=$((tries + 1))
  [ "$tries" -lt 300 ] || fail "the server did not listen within 30 s"
  sleep 0.1
done

case $HEALTH in
"CMD "*) ;;
*) fail "the image has no health check: $HEALTH" ;;
esac
${HEALTH#CMD } >/tmp/health 2>&1 || fail "the health check says: $(cat /tmp/health)"

takeover doctor --addr 127.0.0.1:8081 --data-dir /data >/tmp/doctor 2>&1 || fail "doctor says: $(cat /tmp/doctor)"
cat /tmp/doctor

cat >/tmp/script.js <<'SCRIPT'
await page.goto(args.url);
return { title: await page.title(), sum: await page.evaluate(() => 6 * 7) };
SCRIPT
result=$(takeover run --keep --args '{"url": "http://127.0.0.1:8080/demo/"}' /tmp/script.js 2>/tmp/run.log) || fail "the script failed: $(cat /tmp/run.log)"
case $result in
*'"sum": 42'* | *'"sum":42'*) echo "the script answered: $result" ;;
*) fail "the script answered $result" ;;
esac
takeover sessions | tee /tmp/sessions
[ "$(tail -n +2 /tmp/sessions | wc -l)" = 1 ] || fail "the session is not listed"

if grep -q 'without its sandbox' /tmp/server.log; then
  echo "Chromium ran without its sandbox: this machine's kernel refuses it"
fi
kill "$server"
wait "$server" || fail "the server ended with status $?"
