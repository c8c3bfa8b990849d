// Package e2e runs hpad's main job on the real things: a Docker engine with a swarm, a Prometheus
// that scrapes its services, and the hpad binary with a configuration as an operator writes it.
package e2e
