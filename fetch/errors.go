package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
)

// ErrClosed is returned by requests after Close.
var ErrClosed = errors.New("request context disposed")

// Error is a failed request, with Playwright's wording.
type Error struct {
	Text  string
	cause error
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the underlying error, or nil.
func (e *Error) Unwrap() error { return e.cause }

// abortedError is returned when the connection ended in the middle of a body.
type abortedError struct{ cause error }

func (e abortedError) Error() string { return "aborted" }
func (e abortedError) Unwrap() error { return e.cause }

// inWords describes a network error in words. If ctx has ended, it returns the
// cause of ctx instead.
func inWords(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text := plainWords(err)
	if text == hangUp {
		text += " (ECONNRESET)"
	}
	if text == err.Error() {
		return err
	}
	return &Error{Text: text, cause: err}
}

const hangUp = "socket hang up"

// isReset reports whether the other side closed a connection before it answered.
func isReset(err error) bool {
	if _, ok := errors.AsType[abortedError](err); ok {
		return false
	}
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// connectErrors maps connection failures to their names.
var connectErrors = []struct {
	errno syscall.Errno
	name  string
}{
	{syscall.ECONNREFUSED, "ECONNREFUSED"}, {syscall.EHOSTUNREACH, "EHOSTUNREACH"}, {syscall.ENETUNREACH, "ENETUNREACH"},
	{syscall.ETIMEDOUT, "ETIMEDOUT"}, {syscall.EADDRNOTAVAIL, "EADDRNOTAVAIL"},
}

// plainWords returns Node's text for a network error.
func plainWords(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Text
	}
	if e, ok := errors.AsType[abortedError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		if e.IsNotFound {
			return "getaddrinfo ENOTFOUND " + e.Name
		}
		return "getaddrinfo EAI_AGAIN " + e.Name
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" && e.Addr != nil {
		for _, known := range connectErrors {
			if errors.Is(e, known.errno) {
				return fmt.Sprintf("connect %s %s", known.name, e.Addr)
			}
		}
		if e.Timeout() {
			return fmt.Sprintf("connect ETIMEDOUT %s", e.Addr)
		}
		var number syscall.Errno
		if !errors.As(e, &number) { // otherwise it is an error of the policy
			return e.Err.Error()
		}
	}
	if text := tlsWords(err); text != "" {
		return text
	}
	switch {
	case isReset(err):
		return hangUp
	case strings.Contains(err.Error(), "malformed HTTP"):
		return "Parse Error: Expected HTTP/, RTSP/ or ICE/"
	}
	return err.Error()
}

// tlsWords returns OpenSSL's text for a rejected certificate or handshake, or "".
func tlsWords(err error) string {
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf("Hostname/IP does not match certificate's altnames: Host: %s. is not in the cert's altnames", e.Host)
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok && e.Reason == x509.Expired {
		return "certificate has expired"
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		certs := e.UnverifiedCertificates
		switch {
		case len(certs) == 1 && certs[0].Issuer.String() == certs[0].Subject.String():
			return "self-signed certificate"
		case len(certs) > 1:
			return "self-signed certificate in certificate chain"
		}
		return "unable to verify the first certificate"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "write EPROTO: wrong version number"
	}
	return ""
}
