package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"

	"github.com/hpad/hpad/internal/httpclient"
	"github.com/hpad/hpad/targets"
	"github.com/hpad/hpad/targets/internal/jsontarget"
)

// The headers of a request.
const (
	timestampHeader   = "Hpad-Timestamp"
	signatureHeader   = "Hpad-Signature"
	idempotencyHeader = "Idempotency-Key"
)

// Carry posts the request.
func (c *connection) Carry(ctx context.Context, r *jsontarget.Request) (*jsontarget.Status, error) {
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	req, err := c.request(ctx, r)
	if err != nil {
		return nil, err
	}
	resp, body, err := c.client.Do(ctx, req)
	if err != nil {
		return nil, unanswered(r, sent.Load(), err)
	}
	status, refusal, garbled := jsontarget.Decode(r, body)
	switch {
	case denies(resp.StatusCode):
		return nil, c.refused(r, resp)
	case refusal != nil:
		return nil, refusal
	case resp.StatusCode == http.StatusNoContent && r.Writes():
		return nil, nil
	case resp.StatusCode != http.StatusOK:
		return nil, c.refused(r, resp)
	case garbled != nil:
		return nil, targets.Errorf(orUncertain(r, targets.Unavailable), "%s: %w", c.client, garbled)
	}
	return status, nil
}

func (c *connection) request(ctx context.Context, r *jsontarget.Request) (*http.Request, error) {
	body := r.JSON()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.client.URL().String(), bytes.NewReader(body))
	if err != nil {
		return nil, targets.Errorf(targets.Invalid, "cannot ask %s: not a request", c.client)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if r.Writes() {
		req.Header.Set(idempotencyHeader, r.RequestID)
	}
	if !c.secret.IsSet() {
		return req, nil
	}
	secret, err := c.secret.Read()
	if err != nil {
		return nil, targets.Errorf(targets.Denied, "cannot ask %s: %w", c.client, err)
	}
	timestamp := strconv.FormatInt(c.now().Unix(), 10)
	req.Header.Set(timestampHeader, timestamp)
	req.Header.Set(signatureHeader, "sha256="+sign(secret, timestamp, body))
	return req, nil
}

// sign is the HMAC-SHA256 of the time, a full stop and the body, in hexadecimal digits.
func sign(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// unanswered makes an error of a request without a whole answer.
func unanswered(r *jsontarget.Request, sent bool, err error) error {
	var failed *httpclient.Error
	class := targets.Unavailable
	switch {
	case errors.As(err, &failed) && failed.Kind == httpclient.Denied: // for want of a secret or a token
		class = targets.Denied
	case sent:
		class = orUncertain(r, class)
	}
	return &targets.Error{Class: class, Err: err}
}

// orUncertain is the class of an error that leaves open whether anything was done.
func orUncertain(r *jsontarget.Request, class targets.Class) targets.Class {
	if r.Writes() {
		return targets.Uncertain
	}
	return class
}
