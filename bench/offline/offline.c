/* Compiles a kernel with the Vulkan driver at hand, and prints what its compiler says: statistics and assembly. Nothing is launched, so
 * the driver's device need not be there: RADV has a null device for each family of GPUs. bench/offline.sh starts this.
 *
 *   offline --data DIR --format F --family gemv|gemm --class C [--type f32|f16] [--batch N] [--rows N] [--cols N]
 *           [--unit ROWSxCOLSxDEPTH] [--multiprocessors N] [--tuned NAME=VALUE]...
 *   offline --module FILE.spv [--constant ID=VALUE]... [--subgroup N]
 *   offline --glsl FILE --spirv FILE
 *
 * Of ours, constants are those that dispatch chooses for a device of that many multiprocessors. On stdout, a line for each
 * statistic, `stat NAME VALUE`; `weights N`, those of a thread's turn of the inner loop where that is known; and the assembly. */
#include "emit/modules.h"
#include "emit/spirv.h"
#include "spec/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan.h>

#include <qkgen/dispatch.h>

#define MATRIX_FEATURES ((VkStructureType)1000506000) /* younger than the headers that we ask for */

typedef struct matrix_features {
    VkStructureType type;
    void *next;
    VkBool32 matrix, robust;
} matrix_features;

enum { MOST = 64 };

typedef struct job {
    const char *data, *format, *family, *sum, *module, *glsl, *spirv;
    qg_scalar type;
    uint64_t batch, rows, cols;
    uint32_t unit[3], multiprocessors, subgroup;
    qk_tuning_entry tuned;
    uint32_t ids[MOST], values[MOST], n_constants;
    const uint32_t *words;
    size_t bytes;
    uint32_t bindings, weights;
} job;

static void stop(const char *what, const char *why) {
    fprintf(stderr, "offline: error: %s: %s\n", what, why);
    exit(1);
}

static uint64_t number_of(const char *text) {
    char *end;
    const uint64_t value = strtoull(text, &end, 0);
    if (*text == 0 || *end != 0) stop(text, "it must be a number");
    return value;
}

static void take_constant(job *j, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals || j->n_constants == MOST) stop(text, "--constant takes ID=VALUE");
    j->ids[j->n_constants] = (uint32_t)strtoul(text, NULL, 0);
    j->values[j->n_constants++] = (uint32_t)number_of(equals + 1);
}

static void take_tuned(job *j, const char *text) {
    static const struct {
        const char *name;
        uint32_t id;
    } all[] = {
#define CONSTANT(id, NAME, name, setter, otherwise, legal, meaning) {name, id},
        QK_CONSTANTS(CONSTANT)
#undef CONSTANT
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const size_t length = strlen(all[i].name);
        if (strncmp(all[i].name, text, length) != 0 || text[length] != '=') continue;
        if (j->tuned.count == QK_MAX_TUNED) stop(text, "these are too many");
        j->tuned.values[j->tuned.count++] = (qk_tuned_value){all[i].id, (uint32_t)number_of(text + length + 1)};
        return;
    }
    stop(text, "--tuned takes NAME=VALUE, of constant.def");
}

static void take_option(job *j, const char *name, const char *value) {
    if (strcmp(name, "--data") == 0)
        j->data = value;
    else if (strcmp(name, "--format") == 0)
        j->format = value;
    else if (strcmp(name, "--family") == 0)
        j->family = value;
    else if (strcmp(name, "--class") == 0)
        j->sum = value;
    else if (strcmp(name, "--module") == 0)
        j->module = value;
    else if (strcmp(name, "--glsl") == 0)
        j->glsl = value;
    else if (strcmp(name, "--spirv") == 0)
        j->spirv = value;
    else if (strcmp(name, "--type") == 0)
        j->type = strcmp(value, "f16") == 0 ? QG_F16 : QG_F32;
    else if (strcmp(name, "--batch") == 0)
        j->batch = number_of(value);
    else if (strcmp(name, "--rows") == 0)
        j->rows = number_of(value);
    else if (strcmp(name, "--cols") == 0)
        j->cols = number_of(value);
    else if (strcmp(name, "--subgroup") == 0)
        j->subgroup = (uint32_t)number_of(value);
    else if (strcmp(name, "--multiprocessors") == 0)
        j->multiprocessors = (uint32_t)number_of(value);
    else if (strcmp(name, "--constant") == 0)
        take_constant(j, value);
    else if (strcmp(name, "--tuned") == 0)
        take_tuned(j, value);
    else if (strcmp(name, "--unit") != 0 ||
             sscanf(value, "%ux%ux%u", (unsigned *)&j->unit[0], (unsigned *)&j->unit[1], (unsigned *)&j->unit[2]) != 3)
        stop(name, "there is no such option; the top of offline.c lists them");
}

/* ---- the launch that dispatch makes ---- */

static job *wanted;
static const qg_kernel *planned;
static uint32_t launches;

/* What a thread takes of a row at a time, times the rows that it takes together. */
static uint32_t weights_of(const qk_launch *l) {
    const uint32_t schedule = qk_constant_(l->kernel, l->constants, QK_CONSTANT_SCHEDULE, 0);
    const uint32_t rows = qk_constant_(l->kernel, l->constants, QK_CONSTANT_ROWS, 1);
    const qg_plan *plan = schedule != QK_SCHEDULE_NONE ? qg_tile_of(planned, (qk_schedule)schedule) : planned->plan;
    return plan ? plan->tile_elements * (qg_schedules[schedule].tile == QG_TILE_COLUMNS ? 1 : rows) : 0;
}

static qk_status take_launch(void *context, const qk_launch *l, qk_error *unused) {
    job *j = wanted;
    (void)context;
    (void)unused;
    /* Of a product of several launches, the one that multiplies. */
    const uint32_t schedule = qk_constant_(l->kernel, l->constants, QK_CONSTANT_SCHEDULE, 0);
    if (schedule == QK_SCHEDULE_PACK || schedule == QK_SCHEDULE_ADD_PARTS || launches++ > 0) return QK_OK;
    const qk_code *code = qk_code_of(l->kernel, l->constants);
    j->words = code->data;
    j->bytes = code->bytes;
    j->bindings = l->kernel->binding_count + l->kernel->table_count;
    j->weights = weights_of(l);
    for (uint32_t i = 0; i < l->kernel->spec_constant_count; i++) {
        const qk_spec_constant *c = &l->kernel->spec_constants[i];
        const uint32_t value = l->constants[i];
        printf("constant %s %u\n", c->name, (unsigned)value);
        j->ids[j->n_constants] = c->id;
        j->values[j->n_constants++] = value;
    }
    return QK_OK;
}

static qk_status no_barrier(void *context, qk_error *unused) {
    (void)context;
    (void)unused;
    return QK_OK;
}

static qk_limits limits_of(const job *j) {
    const bool units = j->unit[0] != 0;
    return (qk_limits){.storage_range = UINT32_MAX,
                       .offset_alignment = 4,
                       .workgroup_count = 65535,
                       .workgroup_size = 1024,
                       .push_bytes = 256,
                       .features = ~(units ? 0u : (uint32_t)QK_FEATURE_COOPERATIVE_MATRIX),
                       .busy_workgroups = 5 * j->multiprocessors,
                       .shared_bytes = 65536,
                       .subgroup_size = j->subgroup ? j->subgroup : 64,
                       .matrix_rows = j->unit[0],
                       .matrix_cols = j->unit[1],
                       .matrix_depth = j->unit[2],
                       .matrix_lanes = units ? 32 : 0};
}

static void dispatch(job *j, qg_arena *arena) {
    const char *why = NULL;
    qg_templates *templates = QG_NEW(arena, qg_templates);
    qg_library *library = qg_library_new(arena, false);
    if (!qg_library_add_folder(library, qg_format(arena, "%s/formats", j->data)) ||
        !qg_templates_load(arena, qg_format(arena, "%s/templates", j->data), templates, &why))
        stop(j->data, why ? why : "it has no formats");
    const qg_layout *layout = qg_library_find(library, j->format);
    const qg_family *family = qg_family_named(j->family);
    const qg_sum_class *sum = qg_sum_class_named(j->sum);
    if (!layout || !family || !sum || !qg_has_class(arena, layout, family, sum))
        stop(j->format, "it has no such kernel");
    const qg_request request = {.layout = layout, .n_families = 1, .families = &family, .vulkan = true, .command = ""};
    qg_kernel *kernel = QG_NEW(arena, qg_kernel);
    *kernel = qg_kernel_new(arena, layout, family, j->type, sum);
    planned = kernel;
    const qk_kernel *described =
        qg_compile_kernel(arena, templates, &request, kernel, family->in_tiles ? 0 : j->batch, &why);
    if (!described) stop(j->format, why);
    qk_backend backend = {.launch = take_launch, .barrier = no_barrier, .api = QK_API_VULKAN, .limits = limits_of(j)};
    qk_error error = {""};
    const qk_tuning tuning = {.count = 1, .entries = &j->tuned};
    snprintf(j->tuned.kernel, sizeof j->tuned.kernel, "%s", described->name);
    j->tuned.rows = j->rows;
    j->tuned.cols = j->cols;
    j->tuned.batch = (uint32_t)j->batch;
    if (j->tuned.count) backend.tuning = &tuning;
    /* Each at an address of its own, and as large as it may be. */
    static char memory[QK_MAX_BINDINGS];
    qk_range ranges[QK_MAX_BINDINGS], x = {memory, 0, UINT32_MAX}, y = {memory + 1, 0, UINT32_MAX};
    const qk_range scratch = {memory + 2, 0, UINT32_MAX};
    for (uint32_t i = 0; i < QK_MAX_BINDINGS; i++) ranges[i] = (qk_range){memory + 3 + i % 8, 0, UINT32_MAX};
    wanted = j;
    const qk_status status =
        family->in_tiles ? qk_dispatch_gemm_with(&backend, described, ranges, x, scratch, y, j->rows, j->cols, j->batch,
                                                 NULL, &error)
                         : qk_dispatch_gemv(&backend, described, ranges, x, y, j->rows, j->cols, j->batch, &error);
    if (status != QK_OK || !j->words) stop(j->format, error.text);
}

/* Only compiles: where the system's compilers are too old for a shader of others. */
static void make_module(const job *j, qg_arena *arena) {
    const char *why = NULL;
    size_t length, bytes;
    const char *text = qg_read_file(arena, j->glsl, 1 << 24, &length, &why);
    if (!text) stop(j->glsl, why);
    if (!qg_spirv_open()) stop(j->glsl, "the compiler does not start");
    const uint32_t *words = qg_spirv_compile(arena, j->glsl, text, &bytes, &why);
    if (!words) stop("it is not compiled", why);
    FILE *file = j->spirv ? fopen(j->spirv, "wb") : NULL;
    if (!file || fwrite(words, 1, bytes, file) != bytes || fclose(file) != 0)
        stop(j->spirv ? j->spirv : "--spirv", "cannot write it");
}

/* ---- the driver ---- */

static void check(VkResult result, const char *what) {
    if (result < 0) stop(what, qg_format(qg_arena_new(), "VkResult %d", (int)result));
}

static bool has_extension(VkPhysicalDevice device, const char *name) {
    uint32_t count = 0;
    bool found = false;
    vkEnumerateDeviceExtensionProperties(device, NULL, &count, NULL);
    VkExtensionProperties *all = calloc(count + 1, sizeof *all);
    vkEnumerateDeviceExtensionProperties(device, NULL, &count, all);
    for (uint32_t i = 0; i < count; i++) found |= strcmp(all[i].extensionName, name) == 0;
    free(all);
    return found;
}

static VkDevice open_device(bool *matrices) {
    VkInstance instance;
    VkPhysicalDevice device;
    VkDevice opened;
    uint32_t count = 1, n = 1;
    const char *names[2] = {"VK_KHR_pipeline_executable_properties", "VK_KHR_cooperative_matrix"};
    const float priority = 1;
    const VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo made = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    check(vkCreateInstance(&made, NULL, &instance), "vkCreateInstance");
    check(vkEnumeratePhysicalDevices(instance, &count, &device), "vkEnumeratePhysicalDevices");
    if (count == 0) stop("no Vulkan device", "RADV_FORCE_FAMILY names one, with a Mesa before 26");
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(device, &properties);
    printf("device %s\n", properties.deviceName);
    if (!has_extension(device, names[0]))
        stop(properties.deviceName, "it has no VK_KHR_pipeline_executable_properties");
    *matrices = has_extension(device, names[1]);
    matrix_features matrix = {MATRIX_FEATURES, NULL, VK_FALSE, VK_FALSE};
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR told = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
        .pNext = *matrices ? &matrix : NULL};
    VkPhysicalDeviceVulkan13Features v13 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
                                            .pNext = &told};
    VkPhysicalDeviceVulkan12Features v12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                                            .pNext = &v13};
    VkPhysicalDeviceVulkan11Features v11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
                                            .pNext = &v12};
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &v11};
    vkGetPhysicalDeviceFeatures2(device, &all);
    all.features.robustBufferAccess = VK_FALSE;
    n += *matrices;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &all,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = n,
                                     .ppEnabledExtensionNames = names};
    check(vkCreateDevice(device, &info, NULL, &opened), "vkCreateDevice");
    return opened;
}

static VkPipeline open_pipeline(const job *j, VkDevice device) {
    VkShaderModule module;
    VkDescriptorSetLayout set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkDescriptorSetLayoutBinding bindings[QK_MAX_BINDINGS];
    VkSpecializationMapEntry entries[MOST];
    const VkShaderModuleCreateInfo code = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = j->bytes, .pCode = j->words};
    check(vkCreateShaderModule(device, &code, NULL, &module), "vkCreateShaderModule");
    for (uint32_t i = 0; i < j->bindings; i++)
        bindings[i] =
            (VkDescriptorSetLayoutBinding){i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    const VkDescriptorSetLayoutCreateInfo sets = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                  .bindingCount = j->bindings,
                                                  .pBindings = bindings};
    check(vkCreateDescriptorSetLayout(device, &sets, NULL, &set), "vkCreateDescriptorSetLayout");
    const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 128};
    const VkPipelineLayoutCreateInfo layouts = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                                .setLayoutCount = 1,
                                                .pSetLayouts = &set,
                                                .pushConstantRangeCount = 1,
                                                .pPushConstantRanges = &push};
    check(vkCreatePipelineLayout(device, &layouts, NULL, &layout), "vkCreatePipelineLayout");
    for (uint32_t i = 0; i < j->n_constants; i++) entries[i] = (VkSpecializationMapEntry){j->ids[i], 4 * i, 4};
    const VkSpecializationInfo constants = {j->n_constants, entries, 4 * j->n_constants, j->values};
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = j->unit[0] ? 32 : j->subgroup};
    const VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                              .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
                                                       VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR,
                                              .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                        .pNext = size.requiredSubgroupSize ? &size : NULL,
                                                        .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                        .module = module,
                                                        .pName = "main",
                                                        .pSpecializationInfo = &constants},
                                              .layout = layout};
    check(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline), "vkCreateComputePipelines");
    return pipeline;
}

static void tell(VkDevice device, VkPipeline pipeline) {
    PFN_vkGetPipelineExecutableStatisticsKHR statistics =
        (PFN_vkGetPipelineExecutableStatisticsKHR)vkGetDeviceProcAddr(device, "vkGetPipelineExecutableStatisticsKHR");
    PFN_vkGetPipelineExecutableInternalRepresentationsKHR texts =
        (PFN_vkGetPipelineExecutableInternalRepresentationsKHR)vkGetDeviceProcAddr(
            device, "vkGetPipelineExecutableInternalRepresentationsKHR");
    const VkPipelineExecutableInfoKHR which = {.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                               .pipeline = pipeline};
    VkPipelineExecutableStatisticKHR all[MOST];
    VkPipelineExecutableInternalRepresentationKHR text[8];
    uint32_t count = MOST;
    for (uint32_t i = 0; i < MOST; i++)
        all[i] = (VkPipelineExecutableStatisticKHR){.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR};
    check(statistics(device, &which, &count, all), "statistics");
    for (uint32_t i = 0; i < count; i++) printf("stat %s %llu\n", all[i].name, (unsigned long long)all[i].value.u64);
    for (uint32_t i = 0; i < 8; i++)
        text[i] = (VkPipelineExecutableInternalRepresentationKHR){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR};
    count = 8;
    check(texts(device, &which, &count, text), "texts");
    for (uint32_t i = 0; i < count; i++) text[i].pData = calloc(text[i].dataSize + 1, 1);
    check(texts(device, &which, &count, text), "texts");
    for (uint32_t i = 0; i < count; i++)
        if (text[i].isText) printf("text %s\n%s\n", text[i].name, (const char *)text[i].pData);
}

int main(int argc, char **argv) {
    job j = {.data = ".",
             .family = "gemv",
             .sum = "exact",
             .batch = 1,
             .rows = 4096,
             .cols = 4096,
             .type = QG_F32,
             .multiprocessors = 96,
             .bindings = 8};
    bool matrices;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc) stop(argv[i], "it takes a value");
        take_option(&j, argv[i], argv[i + 1]);
    }
    qg_arena *arena = qg_arena_new();
    const char *why = NULL;
    if (j.glsl) {
        make_module(&j, arena);
        return 0;
    }
    if (j.module) {
        j.words = (const uint32_t *)(const void *)qg_read_file(arena, j.module, 1 << 24, &j.bytes, &why);
        if (!j.words) stop(j.module, why);
    } else if (j.format && qg_spirv_open()) {
        dispatch(&j, arena);
    } else {
        stop("nothing to compile", "--format or --module says what");
    }
    const VkDevice device = open_device(&matrices);
    if (j.unit[0] && !matrices) stop("--unit", "the device has no matrix units");
    printf("weights %u\n", (unsigned)j.weights);
    tell(device, open_pipeline(&j, device));
    fflush(stdout);
    _Exit(0); /* the null device need not be taken apart, and some drivers fail at it */
}
