package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"moka/kv/rpc/nodecert"
)

func certCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cert", Short: "Make the certificates by which nodes know each other",
		Long: `Make the certificates by which nodes know each other (mutual TLS on --node-addr and --join).

  moka cert create-ca --cert-dir ca                                       once for a cluster; keep ca/ca.key to yourself
  moka cert create-node --ca-dir ca --cert-dir db1 db1.example 10.0.0.1   for a storage node, with its names and addresses
  moka cert create-node --ca-dir ca --cert-dir sql1 --role sql            for a process that serves SQL

Copy each directory to its machine and name it there: moka start --cert-dir DIR …`,
	}
	var dir, caDir, role string
	ca := &cobra.Command{
		Use: "create-ca", Short: "Make a certificate authority", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := nodecert.CreateCA(dir); err != nil {
				return err
			}
			fmt.Printf("made ca.crt and ca.key in %s\n", dir)
			return nil
		},
	}
	node := &cobra.Command{
		Use: "create-node [HOST…]", Short: "Make a node's certificate; HOST is a name or address by which " +
			"others reach it",
		RunE: func(_ *cobra.Command, hosts []string) error {
			if err := nodecert.CreateNode(dir, cmp.Or(caDir, dir), role, hosts); err != nil {
				return err
			}
			fmt.Printf("made node.crt and node.key of role %s in %s\n", role, dir)
			return nil
		},
	}
	for _, c := range []*cobra.Command{ca, node} {
		c.Flags().StringVar(&dir, "cert-dir", "certs", "directory to write to")
	}
	node.Flags().StringVar(&caDir, "ca-dir", "", "directory of the authority (default: --cert-dir)")
	node.Flags().StringVar(&role, "role", nodecert.RoleStorage, "storage or sql")
	cmd.AddCommand(ca, node)
	return cmd
}
