/* The Vulkan device of a run. The cases of a list take the same one, which stays open between them. */
#include "cli/run.h"

#include <qkgen/vulkan.h>

#include <stdlib.h>
#include <string.h>

static struct {
    bool shared;
    qk_vulkan *vulkan;
    char *name;        /* as it was asked for; NULL: the default */
    uint32_t messages; /* of the validation layer, that a case has told of */
} kept;

static void drop(void) {
    qk_vulkan_destroy(kept.vulkan);
    free(kept.name);
    kept.vulkan = NULL;
    kept.name = NULL;
    kept.messages = 0;
}

void qg_device_share(bool shared) {
    drop();
    kept.shared = shared;
}

static bool is_kept(const char *name) {
    if (!kept.vulkan) return false;
    return name && kept.name ? strcmp(name, kept.name) == 0 : name == kept.name;
}

qk_status qg_device_open(const char *name, qk_vulkan **vulkan, qk_error *error) {
    const char *validation = getenv("QKGEN_VALIDATION");
    const qk_vulkan_options options = {.device = name,
                                       .validate = validation && *validation && strcmp(validation, "0") != 0};
    qk_status status = QK_OK;
    if (!is_kept(name)) {
        drop();
        status = qk_vulkan_create(&options, &kept.vulkan, error);
        kept.name = name ? strdup(name) : NULL;
    }
    *vulkan = kept.vulkan;
    return status;
}

const char *qg_device_close(qg_arena *arena, qk_vulkan *vulkan, const qk_kernel *kernel) {
    const uint32_t all = vulkan ? qk_vulkan_messages(vulkan) : 0, messages = all - (vulkan ? kept.messages : 0);
    kept.messages = all;
    if (vulkan) qk_vulkan_forget(vulkan, kernel);
    if (!kept.shared) drop();
    return messages ? qg_format(arena, "the validation layer had %u messages", messages) : NULL;
}
