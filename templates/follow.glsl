// Whether so many blocks from one on follow each other, and begin where a word does.
bool qk_follow(uint slot, uint count) {
    bool follow = qk_made[slot] != QK_NONE && qk_made[slot] % count == 0u;
    for (uint i = 1u; i < count; ++i) follow = follow && qk_made[slot + i] == qk_made[slot] + i;
    return follow;
}
