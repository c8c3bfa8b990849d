package sourcetest

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
)

// MaxResponseBytes is the size an HTTP source under test must be set to take at most.
const MaxResponseBytes = 64 << 10

// HTTP starts a server that plays a scene, and returns its address. What an answer looks like is
// the driver's to write. Every request must have basic authentication with the password, if one
// is given.
func HTTP(t *testing.T, scene Scene, password string, write func(w http.ResponseWriter, r *http.Request, scene Scene)) string {
	t.Helper()
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, got, _ := r.BasicAuth(); got != password {
			t.Errorf("the password is %q, want %q", got, password)
		}
		play(w, r, scene, gone, write)
	}))
	if scene == Refuses {
		server.Close()
		return server.URL
	}
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(gone) })
	return server.URL
}

func play(w http.ResponseWriter, r *http.Request, scene Scene, gone <-chan struct{}, write func(http.ResponseWriter, *http.Request, Scene)) {
	switch scene {
	case Fails:
		http.Error(w, "out of order", http.StatusInternalServerError)
	case Denies:
		http.Error(w, "Unauthorized: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
	case Hangs:
		select {
		case <-r.Context().Done():
		case <-gone:
		}
	case Login:
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!DOCTYPE html>\n<html><body>Please log in\n</body></html>\n"))
	case Truncated:
		whole := httptest.NewRecorder()
		write(whole, r, scene)
		w.Header().Set("Content-Type", whole.Header().Get("Content-Type"))
		w.Header().Set("Content-Length", strconv.Itoa(whole.Body.Len()))
		_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
	case TooLarge:
		_, _ = w.Write(bytes.Repeat([]byte("x 0\n"), MaxResponseBytes))
	case Noise:
		noise := make([]byte, 512)
		for i := range noise {
			noise[i] = byte(rand.Uint32())
		}
		_, _ = w.Write(noise)
	default:
		write(w, r, scene)
	}
}
