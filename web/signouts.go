package web

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// signOuts is a file of sign-ins that ended early, one per line: the nonce of the
// cookie, and when the cookie expires in any case, in seconds since 1970. An empty
// name keeps nothing.
type signOuts string

// load returns the sign-outs by nonce, and removes those from the file whose
// cookies have expired.
func (f signOuts) load(now time.Time) (map[string]time.Time, error) {
	kept := map[string]time.Time{}
	if f == "" {
		return kept, nil
	}
	raw, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read sign-outs: %w", err)
	}
	var rest bytes.Buffer
	for line := range strings.Lines(string(raw)) {
		text, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		nonce, err := base64.RawURLEncoding.DecodeString(text)
		seconds, atErr := strconv.ParseInt(at, 10, 64)
		if err != nil || atErr != nil || len(nonce) != nonceSize { // a line that was cut when the machine failed
			continue
		}
		if expires := time.Unix(seconds, 0); now.Before(expires) {
			kept[string(nonce)] = expires
			rest.WriteString(f.line(string(nonce), expires))
		}
	}
	next := string(f) + ".new"
	if err := os.WriteFile(next, rest.Bytes(), 0o600); err != nil {
		return nil, fmt.Errorf("keep sign-outs: %w", err)
	}
	if err := os.Rename(next, string(f)); err != nil {
		return nil, fmt.Errorf("keep sign-outs: %w", err)
	}
	return kept, nil
}

// add appends a sign-out. When it returns, the sign-out is on the disk.
func (f signOuts) add(nonce string, expires time.Time) error {
	if f == "" {
		return nil
	}
	file, err := os.OpenFile(string(f), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("keep sign-out: %w", err)
	}
	_, err = file.WriteString(f.line(nonce, expires))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("keep sign-out: %w", err)
	}
	return nil
}

func (signOuts) line(nonce string, expires time.Time) string {
	return base64.RawURLEncoding.EncodeToString([]byte(nonce)) + " " + strconv.FormatInt(expires.Unix(), 10) + "\n"
}
