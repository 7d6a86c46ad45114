/* Linked into the command and into tests when they are built with sanitizers: libraries stay loaded until the process
 * ends. Else the leak check, which comes last, meets the memory of Vulkan drivers that are gone, and cannot tell whose
 * it was. */
int dlclose(void *handle);

int dlclose(void *handle) {
    (void)handle;
    return 0;
}
