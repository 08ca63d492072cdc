# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The adapters that are written in Go are one module, engines/go.
exec sh -eu "$ADAPTER/../go/build.sh" bbolt
