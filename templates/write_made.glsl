// A thread that wrote its own block would write to lines that its neighbours write to as well, a few bytes each time. So all threads
// write all blocks, and neighbours write to neighbours. All of them have to come here.
@if streams
// first: the block of the first thread, where those of all threads follow each other and it begins where a word does; or QK_NONE.
void qk_write_made(uint first) {
    barrier();
    @{join_streams}
@else
void qk_write_made() {
@end
    barrier();
    @{write_made}
    barrier();
}
