package mysqlproto

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/pem"
	"sync"
)

// NewSalt makes a challenge. It has neither zeros, at which clients end it, nor '$'.
func NewSalt() ([]byte, error) {
	salt := make([]byte, SaltLength)
	if _, err := rand.Read(salt); err != nil {
		return nil, err
	}
	for i := range salt {
		if salt[i] &= 0x7f; salt[i] == 0 || salt[i] == '$' {
			salt[i]++
		}
	}
	return salt, nil
}

// VerifyNative compares the answer of mysql_native_password with SHA1(SHA1(password)), which is what is
// stored:
//
//	answer = SHA1(password) XOR SHA1(salt, SHA1(SHA1(password)))
func VerifyNative(answer, salt, stored []byte) bool {
	if len(answer) != sha1.Size || len(stored) != sha1.Size {
		return false
	}
	mask := sha1.Sum(append(append(make([]byte, 0, len(salt)+len(stored)), salt...),
		stored...))
	for i := range mask {
		mask[i] ^= answer[i]
	}
	twice := sha1.Sum(mask[:])
	return subtle.ConstantTimeCompare(twice[:], stored) == 1
}

// VerifySHA2 compares the answer of caching_sha2_password with SHA256(SHA256(password)), which is known of
// a password that was right before:
//
//	answer = SHA256(password) XOR SHA256(SHA256(SHA256(password)), salt)
func VerifySHA2(answer, salt, known []byte) bool {
	if len(answer) != sha256.Size || len(known) != sha256.Size {
		return false
	}
	mask := sha256.Sum256(append(append(make([]byte, 0, len(salt)+len(known)), known...), salt...))
	for i := range mask {
		mask[i] ^= answer[i]
	}
	twice := sha256.Sum256(mask[:])
	return subtle.ConstantTimeCompare(twice[:], known) == 1
}

// What server and client say to each other in caching_sha2_password, after HeaderMoreData.
const (
	SHA2FastDone   = 3 // the answer was right
	SHA2SendAll    = 4 // send the password itself
	SHA2RequestKey = 2 // the client: send the public key
)

// SHA2Key is an RSA key by which clients without TLS send their passwords, made when the first one asks
// for it.
type SHA2Key struct {
	once    sync.Once
	private *rsa.PrivateKey
	public  []byte
	err     error
}

// Public is the key as clients get it, PEM.
func (k *SHA2Key) Public() ([]byte, error) {
	k.once.Do(func() {
		var der []byte
		if k.private, k.err = rsa.GenerateKey(rand.Reader, 2048); k.err != nil {
			return
		}
		if der, k.err = x509.MarshalPKIXPublicKey(&k.private.PublicKey); k.err == nil {
			k.public = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
		}
	})
	return k.public, k.err
}

// Decrypt returns a password that was sent by the key, as the client put it: XORed with the salt. ok is
// false if it was not.
func (k *SHA2Key) Decrypt(sent, salt []byte) (password []byte, ok bool) {
	if _, err := k.Public(); err != nil {
		return nil, false
	}
	password, err := rsa.DecryptOAEP(sha1.New(), nil, k.private, sent, nil)
	if err != nil {
		return nil, false
	}
	for i := range password {
		password[i] ^= salt[i%len(salt)]
	}
	return password, true
}
