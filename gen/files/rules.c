/* The rules that map tensors to formats: a text file, one rule on each line. */
#include "files/rules.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 2 + 2 * QG_MAX_PARTS };

qg_rules *qg_rules_new(qg_arena *arena) {
    qg_rules *rules = QG_NEW(arena, qg_rules);
    rules->arena = arena;
    return rules;
}

/* `WORD=REST` or `WORD`. */
static const char *split(qg_arena *arena, const char *word, char at, const char **rest) {
    const char *found = strchr(word, at);
    *rest = found ? found + 1 : NULL;
    return found ? qg_strndup(arena, word, (size_t)(found - word)) : word;
}

static void add_condition(qg_rules *rules, const char *word, qg_set_rule *set) {
    qg_condition *c = &set->conditions[set->n_conditions++];
    c->parameter = split(rules->arena, word, '=', &c->value);
    const size_t length = strlen(c->value);
    c->needed = length == 0 || c->value[length - 1] != '?';
    if (!c->needed) c->value = qg_strndup(rules->arena, c->value, length - 1);
}

static const char *add_part(qg_rules *rules, const char *word, qg_set_rule *set) {
    static const char full[] = "too many words of one kind";
    if (*word == '!') {
        if (set->n_absent == QG_MAX_PARTS) return full;
        set->absent[set->n_absent++] = word + 1;
        return NULL;
    }
    const char *type;
    const char *left = split(rules->arena, word, ':', &type);
    if (!type && strchr(word, '=')) {
        if (set->n_conditions == QG_MAX_PARTS) return full;
        add_condition(rules, word, set);
        return NULL;
    }
    if (!type || !*type)
        return "a buffer is written as NAME:TYPE or NAME=SUFFIX:TYPE, a condition as PARAMETER=VALUE, and a tensor "
               "that "
               "must not be there as !SUFFIX";
    if (set->n_buffers == QG_MAX_PARTS) return full;
    const uint32_t i = set->n_buffers++;
    set->type[i] = type;
    set->buffer[i] = split(rules->arena, left, '=', &set->suffix[i]);
    if (!set->suffix[i]) set->suffix[i] = qg_format(rules->arena, ".%s", set->buffer[i]);
    return NULL;
}

static const char *add_set(qg_rules *rules, uint32_t count, const char *const *words) {
    static const char few[] = "tensors needs a format and at least one buffer";
    if (count < 3) return few;
    qg_set_rule set = {.format = words[1]};
    for (uint32_t i = 2; i < count; ++i) {
        const char *why = add_part(rules, words[i], &set);
        if (why) return why;
    }
    if (!set.n_buffers) return few;
    QG_PUSH(rules->arena, rules->sets.items, rules->sets.count, rules->sets.capacity, set);
    return NULL;
}

static const char *add_beside(qg_rules *rules, uint32_t count, const char *const *words) {
    qg_beside_rule rule = {0};
    if (count >= 2) rule.suffix = split(rules->arena, words[1], ':', &rule.type);
    if (!rule.type) return "beside needs SUFFIX:TYPE";
    if (count > 2 + QG_MAX_PARTS) return "beside has too many parameters";
    for (uint32_t i = 2; i < count; ++i) {
        const uint32_t at = rule.n_keys++;
        rule.parameters[at] = split(rules->arena, words[i], '=', &rule.keys[at]);
        if (rule.keys[at]) continue;
        if (count > 3) return "beside takes one PARAMETER, or PARAMETER=KEY for each of several";
        rule.numbers = rule.parameters[at];
        rule.n_keys = 0;
    }
    QG_PUSH(rules->arena, rules->besides.items, rules->besides.count, rules->besides.capacity, rule);
    return NULL;
}

static const char *add_configs(qg_rules *rules, uint32_t count, const char *const *words) {
    if (count < 3) return "config needs an object and at least one PARAMETER=KEY";
    for (uint32_t i = 2; i < count; ++i) {
        qg_config_rule rule = {.object = words[1]};
        rule.parameter = split(rules->arena, words[i], '=', &rule.key);
        if (!rule.key) return "a parameter is written as PARAMETER=KEY";
        QG_PUSH(rules->arena, rules->configs.items, rules->configs.count, rules->configs.capacity, rule);
    }
    return NULL;
}

static bool is_number(const char *word) {
    const size_t digits = strspn(word, "0123456789");
    return digits > 0 && digits < 11 && word[digits] == '\0' && strtoull(word, NULL, 10) <= UINT32_MAX;
}

static const char *add_line(qg_rules *rules, uint32_t count, const char *const *words) {
    if (strcmp(words[0], "tensors") == 0) return add_set(rules, count, words);
    if (strcmp(words[0], "beside") == 0) return add_beside(rules, count, words);
    if (strcmp(words[0], "config") == 0) return add_configs(rules, count, words);
    if (strcmp(words[0], "name") == 0) {
        if (count != 2) return "name needs one text";
        QG_PUSH(rules->arena, rules->names.items, rules->names.count, rules->names.capacity, words[1]);
        return NULL;
    }
    if (strcmp(words[0], "convert") == 0 || strcmp(words[0], "keep") == 0) {
        qg_texts *patterns = *words[0] == 'c' ? &rules->converts : &rules->keeps;
        if (count != 2) return "convert and keep need one pattern of names";
        QG_PUSH(rules->arena, patterns->items, patterns->count, patterns->capacity, words[1]);
        return NULL;
    }
    if (strcmp(words[0], "gguf") != 0 && strcmp(words[0], "safetensors") != 0 && strcmp(words[0], "file-type") != 0)
        return "a line starts with gguf, file-type, safetensors, tensors, beside, config, name, convert or keep";
    if (*words[0] != 's' && count > 1 && !is_number(words[1])) return "GGUF has numbers of at most 32 bits";
    if (count != 3) return "a line of a container has its type and our name of it";
    const qg_type_rule rule = {words[0], words[1], words[2]};
    QG_PUSH(rules->arena, rules->types.items, rules->types.count, rules->types.capacity, rule);
    return NULL;
}

const char *qg_rules_add(qg_rules *rules, const char *path) {
    static const char space[] = " \t\r";
    size_t length;
    const char *why = NULL;
    char *text = qg_read_file(rules->arena, path, (size_t)1 << 20, &length, &why);
    if (!text) return qg_format(rules->arena, "cannot read %s: %s", path, why);
    for (uint32_t line = 1; text; ++line) {
        char *next = strchr(text, '\n'), *words[MAX_WORDS + 1];
        uint32_t count = 0;
        if (next) *next++ = '\0';
        text[strcspn(text, "#")] = '\0';
        for (char *at = text + strspn(text, space); *at && count <= MAX_WORDS; at += strspn(at, space)) {
            words[count++] = at;
            at += strcspn(at, space);
            if (*at) *at++ = '\0';
        }
        if (count > MAX_WORDS) return qg_format(rules->arena, "%s:%u: more than %d words", path, line, MAX_WORDS);
        if (count && (why = add_line(rules, count, (const char *const *)words)))
            return qg_format(rules->arena, "%s:%u: %s", path, line, why);
        text = next;
    }
    return NULL;
}

const char *qg_rules_parameter(const qg_rules *rules, const char *object, const char *key) {
    for (uint32_t i = 0; i < rules->configs.count; ++i) {
        const qg_config_rule *rule = &rules->configs.items[i];
        if (strcmp(rule->object, object) == 0 && strcmp(rule->key, key) == 0) return rule->parameter;
    }
    return NULL;
}

bool qg_rules_object(const qg_rules *rules, const char *object) {
    const size_t length = strlen(object);
    for (uint32_t i = 0; i < rules->configs.count; ++i) {
        const char *named = rules->configs.items[i].object;
        if (strncmp(named, object, length) == 0 && (named[length] == '.' || !named[length])) return true;
    }
    return false;
}

const char *qg_rules_type(const qg_rules *rules, const char *container, const char *type) {
    for (uint32_t i = 0; i < rules->types.count; ++i) {
        const qg_type_rule *rule = &rules->types.items[i];
        if (strcmp(rule->container, container) == 0 && strcmp(rule->type, type) == 0) return rule->name;
    }
    return NULL;
}

const char *qg_rules_number(const qg_rules *rules, const char *of, const char *name) {
    for (uint32_t i = 0; i < rules->types.count; ++i) {
        const qg_type_rule *rule = &rules->types.items[i];
        if (strcmp(rule->container, of) == 0 && strcmp(rule->name, name) == 0) return rule->type;
    }
    return NULL;
}

const char *qg_rules_keep(const qg_rules *rules, const char *tensor) {
    bool converts = rules->converts.count == 0;
    for (uint32_t i = 0; i < rules->converts.count && !converts; ++i)
        converts = fnmatch(rules->converts.items[i], tensor, 0) == 0;
    if (!converts) return "no `convert` rule has its name";
    for (uint32_t i = 0; i < rules->keeps.count; ++i)
        if (fnmatch(rules->keeps.items[i], tensor, 0) == 0)
            return qg_format(rules->arena, "the rule `keep %s`", rules->keeps.items[i]);
    return NULL;
}

bool qg_type_listed(const char *list, const char *type) {
    for (const char *at = list; *at; at += *at == '|') {
        const size_t length = strcspn(at, "|");
        if (strlen(type) == length && memcmp(type, at, length) == 0) return true;
        at += length;
    }
    return false;
}
