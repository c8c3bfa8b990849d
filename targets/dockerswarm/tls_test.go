package dockerswarm

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/targets"
)

func TestEngineIsReachedByTLSWithBothCertificates(t *testing.T) {
	f := &fakeEngine{service: fakeService, update: func(http.ResponseWriter) {}}
	server := httptest.NewUnstartedServer(f)
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	cert, key := writeCertificate(t, &server.TLS.Certificates[0])
	host := "tcp://" + server.Listener.Addr().String()

	full := table("host", host, "tls_ca_file", cert, "tls_cert_file", cert, "tls_key_file", key)
	if err := setThrough(t, full); err != nil || len(f.updates) != 1 {
		t.Errorf("error %v, updates %q", err, f.updates)
	}
	for name, incomplete := range map[string][]any{
		"no certificate of the client": {"host", host, "tls_ca_file", cert},
		"unknown authority":            {"host", host, "tls_cert_file", cert, "tls_key_file", key},
		"no TLS":                       {"host", host},
	} {
		if err := setThrough(t, table(incomplete...)); err == nil || targets.ClassOf(err, true) != targets.Unavailable && targets.ClassOf(err, true) != targets.Invalid {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func setThrough(t *testing.T, given options.Table) error {
	t.Helper()
	connection, err := Driver().Open(environment(t.Output()), given)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	target, err := connection.Bind(table("service", "web"))
	if err != nil {
		t.Fatal(err)
	}
	return target.SetReplicas(t.Context(), targets.Status{Version: "7", SpecReplicas: 2}, 5)
}

func writeCertificate(t *testing.T, pair *tls.Certificate) (cert, key string) {
	t.Helper()
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	for path, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]},
		key:  {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}
