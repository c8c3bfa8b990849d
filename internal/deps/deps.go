// Package deps holds requirements until they are used.
package deps

import (
	_ "github.com/BurntSushi/toml"
	_ "github.com/coreos/go-systemd/v22/daemon"
	_ "github.com/docker/docker/api/types/swarm"
	_ "github.com/docker/docker/client"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/prometheus/client_golang/api/prometheus/v1"
	_ "github.com/prometheus/client_golang/prometheus/collectors/version"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/prometheus/client_golang/prometheus/testutil"
	_ "github.com/prometheus/common/config"
	_ "github.com/prometheus/common/promslog"
	_ "github.com/prometheus/exporter-toolkit/web"
	_ "github.com/prometheus/prometheus/promql/parser"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "go.uber.org/goleak"
	_ "golang.org/x/sync/errgroup"
	_ "sigs.k8s.io/yaml"
)
