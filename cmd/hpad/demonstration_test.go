package main

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// turn is how long the demonstration may take from one replica to several and back to one: what
// the documents promise.
const turn = 2 * time.Minute

// workers is how many ports from the first on the demonstration looks at.
const workers = 10

// newDemonstration is a sandbox with what "make run" needs.
func newDemonstration(t *testing.T) *sandbox {
	t.Helper()
	s := newSandbox(t)
	first := freePorts(t, workers)
	_, port, _ := strings.Cut(first, ":")
	s.rewrites = append(s.rewrites, "127.0.0.1:9873", first, "9873", port)
	s.take("config.example.toml")
	s.config = "config.example.toml"
	return s
}

// makeRun runs the commands of "make run" but for the first, which builds: the program of the tests
// takes the place of the built one.
func (s *sandbox) makeRun() *process {
	s.Helper()
	commands := s.makeDry("run")
	if len(commands) < 2 || !strings.Contains(commands[0], "build") || !strings.Contains(commands[0], "-o bin/hpad ") {
		s.Fatalf("make run does not begin with building bin/hpad: %q", commands)
	}
	last := len(commands) - 1
	for _, line := range commands[1:last] {
		s.run(line)
	}
	return s.startDaemon(commands[last])
}

// TestDemonstration is "make run" from its beginning until it has one replica again. Meanwhile it
// follows docs/operating.md, whose examples are of the demonstration.
func TestDemonstration(t *testing.T) {
	t.Parallel()
	s := newDemonstration(t)
	begin := time.Now()
	daemon := s.makeRun()
	s.serveTLS()

	r := &reader{sandbox: s, daemon: daemon}
	r.follow("docs/operating.md")

	s.within(turn-time.Since(begin), func() string { return "one replica again\n" + daemon.out.String() }, func() bool {
		sizes := sizes(daemon.out.String())
		return len(sizes) > 0 && sizes[len(sizes)-1] == 1
	})
	highest := 0
	for _, n := range sizes(daemon.out.String()) {
		highest = max(highest, n)
	}
	if highest < 3 {
		t.Errorf("the demonstration had %d replicas at most, want at least 3\n%s", highest, daemon.out.String())
	}
	s.interrupt(daemon)
	if daemon.err != nil {
		t.Errorf("Ctrl-C: hpad ends with %v", daemon.err)
	}
}

var scaled = regexp.MustCompile(`msg=scaled workload=demo from=\d+ to=(\d+)`)

// sizes are the replicas that the log says were set, in order.
func sizes(log string) []int {
	var all []int
	for _, match := range scaled.FindAllStringSubmatch(log, -1) {
		n, _ := strconv.Atoi(match[1])
		all = append(all, n)
	}
	return all
}

// serveTLS starts another hpad, which is hpad.example.com: it has TLS.
func (s *sandbox) serveTLS() {
	s.Helper()
	server := httptest.NewTLSServer(nil)
	server.Close()
	pair := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	s.must(err)
	s.write("tls/key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	s.write("tls/cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})))
	s.write("tls/web.yml", "tls_server_config: { cert_file: cert.pem, key_file: key.pem }\n")
	listen := freePorts(s.T, 1)
	s.write("tls/hpad.toml", `[daemon]
listen = "`+listen+`"
socket = ""
state_dir = ""
web_config_file = "web.yml"
[[workload]]
name = "web"
target = { via = "process", command = ["sleep", "1000"] }
max_replicas = 2
requests = { cpu = 1 }
`)
	s.rewrites = append(s.rewrites, "https://hpad.example.com:9872", "https://"+listen)
	s.env = append(s.env, "SSL_CERT_FILE="+filepath.Join(s.dir, "tls/cert.pem"))
	s.startDaemon("hpad run --config tls/hpad.toml")
}
