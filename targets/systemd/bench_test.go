package systemd

import (
	"testing"

	"github.com/hpad/hpad/targets"
)

// BenchmarkStatusOf100Units asks a real manager for a template with 100 units that run.
func BenchmarkStatusOf100Units(b *testing.B) {
	m := real.Manager(b)
	m.Write(b, "bench@.service", "[Service]\nExecStart=/bin/sleep 1000\n")
	defer m.Systemctl(b, "stop", "bench@*.service")
	connection := connect(b, table("address", m.Bus()))
	defer connection.Close()
	target, err := connection.Bind(table("unit", "bench@.service"))
	if err != nil {
		b.Fatal(err)
	}
	if err := target.SetReplicas(b.Context(), targets.Status{}, 100); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		status, err := target.Status(b.Context())
		if err != nil || len(status.Instances) != 100 {
			b.Fatalf("%d instances: %v", len(status.Instances), err)
		}
	}
}
