# hpad: `make` builds, `make run` shows it at work, `make test` proves it.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
REVISION = $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
PKG      = github.com/prometheus/common/version
LDFLAGS  = -s -w -X $(PKG).Version=$(VERSION) -X $(PKG).Revision=$(REVISION)
TIME    ?= 30s

.PHONY: build run test check lint packages bench load fuzz generate clean

build: ## bin/hpad, one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/hpad ./cmd/hpad

run: build ## the demonstration: 1 replica, several, 1 again, within two minutes; Ctrl-C ends it
	@mkdir -p bin/demo
	@echo 'Look at it in another terminal:  bin/hpad get --watch --config config.example.toml'
	@echo 'or in a browser:                 http://127.0.0.1:9872/'
	@echo 'Ctrl-C ends it.'
	@exec bin/hpad run --config config.example.toml

test: packages check ## everything: unit, race, vectors, kits, scripts of the binary, end to end
	@GO='$(GO)' scripts/test

check: ## formatting and vet
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt would change: $$unformatted"; exit 1; fi
	$(GO) vet ./...

packages: ## what the tests on real systems need, from Debian
	@scripts/packages

lint: check ## staticcheck on top of check
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

bench: ## benchmarks; docs/benchmarks.md says what they mean
	$(GO) test -run '^$$' -bench . -benchmem ./algorithm ./daemon/... ./sources/...
	$(GO) test -run TestLoad -v -timeout 30m ./internal/loadtest -load 60s

fuzz: ## every fuzz test for TIME each
	@scripts/fuzz $(TIME)

generate: ## documents made from the code
	HPAD_UPDATE=1 $(GO) test -count 1 -run 'Reference|README' ./cmd/hpad ./daemon/config ./sources/... ./targets/...

clean:
	rm -rf bin
