// Package redis runs three instances of Robots Guard with one Redis server, as an
// example of a storage other than a file system. It is a separate Go module, so that
// the product does not depend on a Redis client.
//
// The storage implements only what the test needs. Users choose one of the storage
// modules for Caddy.
package redis

import (
	"context"
	"io/fs"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/certmagic"
	"github.com/redis/go-redis/v9"
)

func init() {
	caddy.RegisterModule(Storage{})
}

// Storage stores each value in a Redis hash with the time of its last write.
type Storage struct {
	// Address is the address of the server as host:port.
	Address string `json:"address"`

	client *redis.Client
}

const (
	fieldValue    = "value"
	fieldModified = "modified" // Unix time in milliseconds
	lockTime      = time.Minute
)

// CaddyModule returns the Caddy module information.
func (Storage) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "caddy.storage.redis_for_tests",
		New: func() caddy.Module { return new(Storage) },
	}
}

// Provision sets up the client.
func (s *Storage) Provision(caddy.Context) error {
	s.client = redis.NewClient(&redis.Options{Addr: s.Address})
	return nil
}

// Cleanup closes the client.
func (s *Storage) Cleanup() error { return s.client.Close() }

// CertMagicStorage implements caddy.StorageConverter.
func (s *Storage) CertMagicStorage() (certmagic.Storage, error) { return s, nil }

// UnmarshalCaddyfile reads
//
//	storage redis_for_tests <address>
func (s *Storage) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if !d.Args(&s.Address) {
		return d.ArgErr()
	}
	return nil
}

// Lock implements certmagic.Locker.
func (s *Storage) Lock(ctx context.Context, name string) error {
	for {
		ok, err := s.client.SetNX(ctx, "lock:"+name, 1, lockTime).Result()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Unlock implements certmagic.Locker.
func (s *Storage) Unlock(ctx context.Context, name string) error {
	return s.client.Del(ctx, "lock:"+name).Err()
}

// Store implements certmagic.Storage.
func (s *Storage) Store(ctx context.Context, key string, value []byte) error {
	return s.client.HSet(ctx, key, fieldValue, value, fieldModified, time.Now().UnixMilli()).Err()
}

// Load implements certmagic.Storage.
func (s *Storage) Load(ctx context.Context, key string) ([]byte, error) {
	value, err := s.client.HGet(ctx, key, fieldValue).Bytes()
	return value, notExist(err)
}

// Delete implements certmagic.Storage.
func (s *Storage) Delete(ctx context.Context, key string) error {
	return s.client.Del(ctx, key).Err()
}

// Exists implements certmagic.Storage.
func (s *Storage) Exists(ctx context.Context, key string) bool {
	n, err := s.client.Exists(ctx, key).Result()
	return err == nil && n > 0
}

// List implements certmagic.Storage.
func (s *Storage) List(ctx context.Context, path string, recursive bool) ([]string, error) {
	var all []string
	seen := make(map[string]bool)
	found := s.client.Scan(ctx, 0, path+"/*", 1000).Iterator()
	for found.Next(ctx) {
		key := found.Val()
		if !recursive {
			child, _, _ := strings.Cut(strings.TrimPrefix(key, path+"/"), "/")
			key = path + "/" + child
		}
		if !seen[key] {
			seen[key] = true
			all = append(all, key)
		}
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fs.ErrNotExist
	}
	return all, nil
}

// Stat implements certmagic.Storage.
func (s *Storage) Stat(ctx context.Context, key string) (certmagic.KeyInfo, error) {
	size, err := s.client.Do(ctx, "HSTRLEN", key, fieldValue).Int64()
	if err != nil {
		return certmagic.KeyInfo{}, err
	}
	modified, err := s.client.HGet(ctx, key, fieldModified).Int64()
	if err != nil {
		return certmagic.KeyInfo{}, notExist(err)
	}
	return certmagic.KeyInfo{Key: key, Modified: time.UnixMilli(modified), Size: size, IsTerminal: true}, nil
}

func notExist(err error) error {
	if err == redis.Nil {
		return fs.ErrNotExist
	}
	return err
}

// Interface guards
var (
	_ caddy.StorageConverter = (*Storage)(nil)
	_ caddy.CleanerUpper     = (*Storage)(nil)
	_ caddyfile.Unmarshaler  = (*Storage)(nil)
	_ certmagic.Storage      = (*Storage)(nil)
)
