# Of what `offline` printed: the inner loop of a kernel in the assembly of RADV, counted. Prints one line of NAME=VALUE.
#
# The inner loop is that with most matrix products, or else most vector instructions, of those that load. Loops inside of it are left
# out, and loops that only put into shared memory, and take nothing from there: they load x for a whole workgroup.
/^device / { device = $0; sub(/^device /, "", device) }
/^weights / { weights = $2 }
/^stat / { value = $NF; name = $0; sub(/^stat /, "", name); sub(/ [0-9]+$/, "", name); stat[name] = value }
/^text / { in_assembly = /Assembly/; next }
!in_assembly { next }
/^BB[0-9]+:/ { label = $1; sub(/:.*/, "", label); at[label] = n + 1; next }
/^\t[a-z]/ {
  line[++n] = $1
  if ($1 ~ /^s_c?branch/ && ($2 in at)) { loops++; from[loops] = at[$2]; to[loops] = n }
}
END {
  # The innermost loop that a line is in is its own.
  for (i = 1; i <= n; i++) {
    own = 0
    for (l = 1; l <= loops; l++)
      if (from[l] <= i && i <= to[l] && (!own || to[l] - from[l] < to[own] - from[own])) own = l
    all_of[own]++
    if (line[i] ~ /^v_/) valu_of[own]++
    if (line[i] ~ /^v_s?wmma/) wmma_of[own]++
    if (line[i] ~ /^(buffer|global)_load/) vmem_of[own]++
    if (line[i] ~ /^ds_/) lds_of[own]++
    if (line[i] ~ /^ds_(store|write)/) puts_of[own] = 1
    if (line[i] ~ /^ds_(load|read)/) takes_of[own] = 1
    if (line[i] ~ /^(scratch|flat)_/) scratch_of[own]++
  }
  best = 0
  for (l = 1; l <= loops; l++)
    if (vmem_of[l] && (wmma_of[l] || !puts_of[l] || takes_of[l]) &&
        (!best || wmma_of[l] > wmma_of[best] || (wmma_of[l] == wmma_of[best] && valu_of[l] > valu_of[best]))) best = l
  all = all_of[best]; valu = valu_of[best]; wmma = wmma_of[best]; vmem = vmem_of[best]; lds = lds_of[best]; scratch = scratch_of[best]
  waves = stat["Subgroups per SIMD"]
  printf "loop=%d all=%d valu=%d wmma=%d vmem=%d lds=%d scratch=%d weights=%d vgprs=%d sgprs=%d waves=%d spilled=%d lds_bytes=%d\n",
    (best > 0), all, valu, wmma, vmem, lds, scratch, weights, stat["VGPRs"], stat["SGPRs"], waves,
    stat["Spilled VGPRs"] + stat["Spilled SGPRs"] + stat["Scratch size"], stat["LDS size"]
}
