package deploy

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// objects decodes the objects of a file and returns their kinds. An unknown field or a
// field of the wrong type is an error.
func objects(t *testing.T, text string) (kinds []string, err error) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apps.AddToScheme, core.AddToScheme, policy.AddToScheme, monitoring.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
	documents := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return kinds, nil
		}
		if err != nil {
			return kinds, err
		}
		_, kind, err := strict.Decode(document, nil, nil)
		if err != nil {
			return kinds, err
		}
		kinds = append(kinds, kind.Kind)
	}
}

func TestKubernetes(t *testing.T) {
	for name, want := range map[string]string{
		"kubernetes.yaml":     "ConfigMap PersistentVolumeClaim Deployment Service Service PodDisruptionBudget",
		"servicemonitor.yaml": "ServiceMonitor",
	} {
		text := file(t, name)
		kinds, err := objects(t, text)
		if got := strings.Join(kinds, " "); err != nil || got != want {
			t.Errorf("%s: %v, %s, want %s", name, err, got, want)
		}
		if _, err := objects(t, broken(t, text, "selector:", "selektor:")); err == nil {
			t.Errorf("%s: no error for an unknown field", name)
		}
	}
	text := file(t, "kubernetes.yaml")
	for right, wrong := range map[string]string{"replicas: 1": "replicas: one", "kind: Deployment": "kind: Deploy", "apiVersion: policy/v1": "apiVersion: policy/v1beta1"} {
		if _, err := objects(t, broken(t, text, right, wrong)); err == nil {
			t.Errorf("no error for %s", wrong)
		}
	}
}
