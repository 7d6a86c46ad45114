layout(binding = @{binding_src}, std430) readonly buffer Src { float src[]; };
layout(binding = @{binding_src}, std430) readonly buffer SrcFour { vec4 src_four[]; };
layout(binding = @{binding_src}, std430) readonly buffer SrcWords { uint src_words[]; };
layout(binding = @{binding_src}, std430) readonly buffer SrcPairs { uvec2 src_pairs[]; };
layout(binding = @{binding_src}, std430) readonly buffer SrcEight { uvec4 src_eight[]; };
