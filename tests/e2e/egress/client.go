// SPDX-License-Identifier: Apache-2.0
// A static program with a resolver and TLS of its own: prints the page of its argument.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	answer, err := http.Get(os.Args[1])
	if err != nil {
		fmt.Println(err)
		return
	}
	page, err := io.ReadAll(answer.Body)
	fmt.Println(string(page), err)
}
