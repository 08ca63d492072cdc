/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Loaded before everything else by sanitize.sh: libraries stay, so that a report can name what was in them.
 */
int dlclose(void *library);

int dlclose(void *library)
{
    (void)library;
    return 0;
}
