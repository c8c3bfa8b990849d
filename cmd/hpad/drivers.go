package main

import (
	"github.com/hpad/hpad/daemon"
	"github.com/hpad/hpad/sources"
	dockersource "github.com/hpad/hpad/sources/docker"
	execsource "github.com/hpad/hpad/sources/exec"
	httpsource "github.com/hpad/hpad/sources/http"
	processsource "github.com/hpad/hpad/sources/process"
	"github.com/hpad/hpad/sources/prometheus"
	"github.com/hpad/hpad/sources/scrape"
	systemdsource "github.com/hpad/hpad/sources/systemd"
	"github.com/hpad/hpad/targets"
	dockertarget "github.com/hpad/hpad/targets/docker"
	"github.com/hpad/hpad/targets/dockerswarm"
	exectarget "github.com/hpad/hpad/targets/exec"
	processtarget "github.com/hpad/hpad/targets/process"
	systemdtarget "github.com/hpad/hpad/targets/systemd"
	"github.com/hpad/hpad/targets/webhook"
)

// drivers are the built-in ones. No other file names them.
func drivers() daemon.Drivers {
	return daemon.Drivers{
		Sources: []sources.Driver{
			dockersource.Driver(),
			execsource.Driver(),
			httpsource.Driver(),
			processsource.Driver(),
			prometheus.Driver(),
			scrape.Driver(),
			systemdsource.Driver(),
		},
		Targets: []targets.Driver{
			dockertarget.Driver(),
			dockerswarm.Driver(),
			exectarget.Driver(),
			processtarget.Driver(),
			systemdtarget.Driver(),
			webhook.Driver(),
		},
	}
}
