/* The `qkgen` program: its commands, their help, and which of them runs. */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef QKGEN_HAVE_RUNTIME
int qg_command_run(qg_session *session, int argc, char **argv) {
    (void)session, (void)argc, (void)argv;
    return qg_complain("this qkgen was built without the runtime; configure with -DQKGEN_RUNTIME=ON");
}

int qg_command_verify(qg_session *session, int argc, char **argv) { return qg_command_run(session, argc, argv); }

int qg_command_convert(qg_session *session, int argc, char **argv) { return qg_command_run(session, argc, argv); }

int qg_command_bench(qg_session *session, int argc, char **argv) { return qg_command_run(session, argc, argv); }

int qg_command_tune(qg_session *session, int argc, char **argv) { return qg_command_run(session, argc, argv); }

int qg_command_soak(qg_session *session, int argc, char **argv) { return qg_command_run(session, argc, argv); }

int qg_command_judge(qg_session *session, int argc, char **argv) { return qg_command_run(session, argc, argv); }

int qg_command_audit(qg_session *session, int argc, char **argv) { return qg_command_run(session, argc, argv); }

int qg_command_devices(qg_session *session, int argc, char **argv) { return qg_command_run(session, argc, argv); }
#endif

static const char run_usage[] =
#define F(ID, name, summary, usage, ...) usage
#include "build/family.def"
#undef F
    " transcode --from F --to F --target T --in FILE --out FILE\n"
    " qdq_init --target T --group G --bins B --in FILE --out scales=FILE --out biases=FILE --out q=FILE\n"
    " qdq_forward --target T --group G --in q=FILE --in scales=FILE --in biases=FILE --out FILE\n"
    " qdq_backward_scales --target T --group G --in q=FILE --in dy=FILE --out FILE\n"
    " qdq_backward_biases --target T --group G --in dy=FILE --out FILE\n"
    " --cases FILE [OPTION]...\n";

/* The format of examples, which the build names, because no format is known by name here. */
#define F QKGEN_EXAMPLE_FORMAT

static const struct command {
    qg_about about;
    int (*run)(qg_session *, int, char **);
} commands[] = {
    {{"check", " SPEC... [--struct HEADER:STRUCT [--format F] [--rename FIELD=MEMBER]... [-- ARG...]]\n",
      "proves the layout of a specification, or says where it is wrong",
      "What follows -- are arguments of the C compiler, which reads the header.",
      "qkgen --dump=spec --format " F " >my.quant\n"
      "qkgen check my.quant\n"},
     qg_command_check},
    {{"import", " HEADER STRUCT [-- ARG...]\n", "prints the block of a specification, from a C struct",
      "What follows -- are arguments of the C compiler, which reads the header.",
      "echo 'typedef struct { unsigned short d; unsigned char qs[16]; } my_block;' >my.h\n"
      "qkgen import my.h my_block\n"},
     qg_command_import},
    {{"show", " FORMAT [--svg FILE]\n", "draws the map of a block: which bits belong to which code", NULL,
      "qkgen show " F "\n"
      "qkgen show " F " --svg map.svg\n"},
     qg_command_show},
    {{"list", "\n families\n --cost [--format F]... [--family FAMILY]... [--class C] [--spirv] [--json]\n",
      "names the known formats, or the kernel families, or what kernels cost", NULL,
      "qkgen list families\n"
      "qkgen list --cost --format " F " --family gemv\n"},
     qg_command_list},
    {{"emit", " [--format F]... [--family FAMILY]... [--out DIR] [--check] [OPTION]...\n",
      "writes the kernels of formats, or checks that those that are there are up to date",
      "Further arguments are specifications, as with --spec.",
      "qkgen emit --embed --format " F " --family dequant --out kernels\n"
      "qkgen emit --embed --format " F " --family dequant --out kernels --check\n"},
     qg_command_emit},
    {{"gallery", " [--out DIR] [--shown FILE] [--check]\n", "writes a page of all formats with their maps", NULL,
      "qkgen gallery --out gallery\n"},
     qg_command_gallery},
    {{"run", run_usage, "runs a kernel on files",
      "Files are raw little-endian arrays. `qkgen run encode --help` has the options of encode, `qkgen run transcode\n"
      "--help` those of transcode, and `qkgen run qdq_init --help` those of families without a format.\n"
      "With --cases, options on the command line are for all lines, --device for one.",
      "head -c 1800 /dev/urandom >blocks.bin\n"
      "qkgen run dequant --format " F " --target c --type f32 --in blocks.bin --out values.f32\n"},
     qg_command_run},
    {{"verify", " FILE.gguf|FILE.safetensors [--target T]... [--tensor NAME [--out FILE]] [OPTION]...\n",
      "decodes the tensors of a model on several targets, and compares them", NULL,
      "qkgen verify model.gguf --target c\n"},
     qg_command_verify},
    {{"convert", " IN.gguf --to FORMAT --out OUT.gguf [--tensor PATTERN[=FORMAT]]... [OPTION]...\n",
      "writes a model file whose matrices are in another format",
      "Matrices become FORMAT where their rows are whole blocks of it; norms, biases and what docs/convert.md names "
      "stay.\n"
      "Metadata is kept, but for the type of the file. Pieces of tensors are made by several threads.",
      "qkgen convert model.gguf --to " F " --out smaller.gguf\n"},
     qg_command_convert},
    {{"bench",
      " FAMILY,... --format F,...|--from ORIGIN|--all [OPTION]...\n"
      " --model NAME|FILE,... --format F,...|--from ORIGIN|--all [OPTION]...\n"
      " transcode --format F,...|--from ORIGIN|--all --to F,... [OPTION]...\n"
      " qdq_init|qdq_forward|qdq_backward_scales|qdq_backward_biases,... [--group N] [--bins N] [--rows N] [--cols K]\n"
      " --read FILE,... [--svg FILE] [--markdown FILE] [--peers FILE]\n",
      "measures kernels on a Vulkan device, and checks their results",
      "FAMILY is one of `qkgen list families`: kernels that decode, that sum, that make blocks (encode, set_rows).\n"
      "Figures are times, bytes a second, and their share of what the device's memory copies: docs/performance.md.\n"
      "--model measures every matrix of a model, and adds up what a token takes: docs/models.md.\n"
      "transcode stands beside decoding to floats of each --type and encoding those.",
      "qkgen bench gemv --format " F " --rows 512 --cols 1024\n"},
     qg_command_bench},
    {{"tune", " FAMILY,... --format F,... --shape NxK[xM],... --out FILE [OPTION]...\n",
      "finds the constants with which kernels are fastest on a Vulkan device",
      "That takes a second or more for each value of each constant: docs/tuning.md.",
      "qkgen tune gather --format " F " --shape 64x256 --out my_gpu.txt\n"},
     qg_command_tune},
    {{"soak", " [--minutes N | --seconds N | --cases N] [--seed N] [OPTION]...\n --case CASE\n",
      "tries kernels with random shapes, constants and data on a Vulkan device, and checks every result",
      "A result must be within the bound of docs/error-bounds.md, nothing else may be written, and a\n"
      "second launch gives the same bits. Cases run in processes of their own. Of a case that fails, the command\n"
      "that repeats it is shown.",
      "qkgen soak --format " F " --cases 8\n"},
     qg_command_soak},
    {{"judge", " FILE... --format F [--kernel NAME] [--harness H] [OPTION]...\n",
      "runs a kernel that somebody else wrote, and says which bit of a block reaches which element",
      "FILE is SPIR-V (.spv), GLSL (.comp), Metal (.metal) or a shared library (.so) with a C function; it runs in a "
      "process of its "
      "own.\n"
      "The exit status is 0 when nothing is wrong, 1 when something is, 2 when it could not be judged: docs/judge.md.",
      "qkgen emit --format " F " --family dequant --out kernels\n"
      "qkgen judge kernels/" F "/" F "_dequant_f32.comp --format " F " --harness qkgen-dequant\n"},
     qg_command_judge},
    {{"audit",
      " FILE.spv|FILE.comp|DIR... [--push BYTES] [OPTION]...\n"
      " --format F,...|--from ORIGIN|--all [--family FAMILY,...] [--class C,...] [OPTION]...\n"
      " --diff OLD NEW [--push BYTES] [OPTION]...\n",
      "says what modules of SPIR-V read, write and leave to chance, without running them",
      "Kernels of ours are held against their descriptors and the proofs of their programs. The exit status is 0 when\n"
      "nothing is wrong, 1 when something is, 2 when a module could not be audited: docs/audit.md.",
      "qkgen audit --format " F " --family dequant\n"},
     qg_command_audit},
    {{"devices", "\n", "lists the Vulkan devices, and what they have that matters", NULL, "qkgen devices\n"},
     qg_command_devices},
    {{"--dump", "=spec|layout|plan|ir|dot|program --format F [OPTION]...\n", "prints what a stage made of a format",
      NULL, "qkgen --dump=plan --format " F "\n"},
     qg_command_dump},
};

static void print_commands(FILE *file) {
    fputs("qkgen: kernels from the specification of a quantised format\n\n", file);
    for (uint32_t i = 0; i < QG_LENGTH(commands); ++i)
        fprintf(file, "  qkgen %-9s%s\n", commands[i].about.name, commands[i].about.summary);
    fputs("\n`qkgen COMMAND --help` shows how a command is called, its options, and an example.\n"
          "`qkgen --version` prints the version.\n",
          file);
}

static const struct command *find_command(const char *name) {
    const size_t length = strncmp(name, "--", 2) == 0 ? strcspn(name, "=") : strlen(name);
    for (uint32_t i = 0; i < QG_LENGTH(commands); ++i)
        if (strlen(commands[i].about.name) == length && memcmp(name, commands[i].about.name, length) == 0)
            return &commands[i];
    return NULL;
}

static int unknown_command(const char *name) {
    const char *nearest = NULL;
    uint32_t least = qg_name_tolerance(name + strspn(name, "-"));
    for (uint32_t i = 0; i < QG_LENGTH(commands); ++i) qg_name_nearest(name, commands[i].about.name, &nearest, &least);
    qg_name_nearest(name, "--help", &nearest, &least);
    qg_name_nearest(name, "--version", &nearest, &least);
    if (!nearest) return qg_complain("unknown command '%s'; `qkgen --help` lists them", name);
    return qg_complain("unknown command '%s'; did you mean %s? `qkgen --help` lists them", name, nearest);
}

static int run_command(qg_session *session, const struct command *c, int argc, char **argv) {
    session->about = &c->about;
    const int status = c->run(session, argc, argv);
    return session->helped ? 0 : status;
}

static int command(qg_session *session, int argc, char **argv) {
    static char *help[] = {"--help"};
    const char *name = argc < 2 ? "" : argv[1];
    const bool helps = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0;
    if (argc < 2 || (helps && argc == 2)) {
        print_commands(helps ? stdout : stderr);
        return helps ? 0 : 1;
    }
    if (strcmp(name, "--version") == 0) {
        puts("qkgen " QG_VERSION);
        return 0;
    }
    if (helps) name = argv[2];
    const struct command *c = find_command(name);
    if (!c) return unknown_command(name);
    if (helps) return run_command(session, c, 1, help);
    const int read = c->run == qg_command_dump ? 1 : 2; /* it is an option, too */
    return run_command(session, c, argc - read, argv + read);
}

int main(int argc, char **argv) {
    qg_session session = {.arena = qg_arena_new()};
    session.color = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
    int status = command(&session, argc, argv);
    if (fflush(stdout) != 0) status = qg_complain("cannot write to standard output");
    qg_arena_free(session.arena);
    return status;
}
