package dockerapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"

	"github.com/containerd/errdefs/pkg/errhttp"
)

// answerLimit bounds what is read of an answer.
const answerLimit = 1 << 20

// Post sends a text as it is; the Docker client could send its own structs only, which lack what
// newer engines know. It returns the text of the answer. Sent tells whether the request has left,
// so that an error which is no refusal leaves open whether it was done.
func (e *Engine) Post(ctx context.Context, path string, query url.Values, text []byte) (answer []byte, sent bool, err error) {
	address := url.URL{
		Scheme:   e.scheme,
		Host:     e.Host.Addr,
		Path:     "/v" + e.ClientVersion() + path,
		RawQuery: query.Encode(),
	}
	if e.Host.Scheme == "unix" {
		address.Host = "docker"
	}
	var left atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { left.Store(true) }})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), bytes.NewReader(text))
	if err != nil {
		return nil, false, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := e.HTTPClient().Do(request)
	if err != nil {
		return nil, left.Load(), withoutURL(err)
	}
	defer response.Body.Close()
	answer, err = read(response)
	return answer, true, err
}

// withoutURL returns the cause of an error of the HTTP client.
func withoutURL(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		return outer.Err
	}
	return err
}

// read returns the text of an answer, or the error that it is.
func read(response *http.Response) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(response.Body, answerLimit))
	if response.StatusCode/100 == 2 {
		return text, err
	}
	var said struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(text, &said) != nil || said.Message == "" {
		said.Message = "the engine answered " + response.Status
	}
	return nil, fmt.Errorf("%s%w", said.Message, unspoken{errhttp.ToNative(response.StatusCode)})
}

// unspoken is an error that adds its kind and no words.
type unspoken struct{ error }

func (unspoken) Error() string   { return "" }
func (e unspoken) Unwrap() error { return e.error }
