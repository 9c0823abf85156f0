" Portent's models: portent-model(1). tools/check-syntax keeps the words.
if exists('b:current_syntax')
  finish
endif

syn case match
syn match portentsmlSign ':=\|||\|[=!<>]=\|[-+*/<>=!]'
syn match portentsmlNumber '\<\d\+\>'
syn keyword portentsmlWord int lock thread skip acquire release while if else begin end true false or and null
syn match portentsmlBlock '\%(\<begin\s*:\s*\)\@<=[^ \t;{}]\+'
syn match portentsmlComment '//.*$' contains=@Spell
syn match portentsmlComment '#.*$' contains=@Spell
syn region portentsmlComment start='/\*' end='\*/' contains=@Spell

hi def link portentsmlSign Operator
hi def link portentsmlNumber Number
hi def link portentsmlWord Keyword
hi def link portentsmlBlock Label
hi def link portentsmlComment Comment

let b:current_syntax = 'portentsml'
