" Portent's property files: portent-prop(5). tools/check-syntax keeps the words.
if exists('b:current_syntax')
  finish
endif

syn case match
syn match portentpropSign '<->\|->\|&&\|||\|[=!<>]=\|[<>!~*+?|&@]\|\[\]\|<>'
syn match portentpropName '\h\w*\(\(::\|\.\|->\)\h\w*\|\[\d\+\%(\.\.\d\+\)\?\]\|#\d\+\)\+'
syn match portentpropNumber '\<\d\+\(\.\d\+\)\?\([eE][-+]\?\d\+\)\?\>\|\<0[xX]\x\+\>'
syn match portentpropUnit '\<\d\+\s*\%(ns\|us\|ms\|s\|events\?\)\>'
syn keyword portentpropStatement let var thread property use pattern
syn keyword portentpropClause empty epsilon each within never hoa at
syn keyword portentpropTemporal next eventually always until weakuntil release previously once historically since start end X F G U W R Y O H S V
syn keyword portentpropAtom event call return read write race_free atomic_block count sum min max
syn keyword portentpropQuantifier exists forall
syn keyword portentpropConstant true false
syn region portentpropString start='"' skip='\\.' end='"' oneline
syn match portentpropComment '//.*$' contains=@Spell
syn region portentpropComment start='/\*' end='\*/' contains=@Spell

hi def link portentpropSign Operator
hi def link portentpropName Identifier
hi def link portentpropNumber Number
hi def link portentpropUnit Number
hi def link portentpropStatement Statement
hi def link portentpropClause Keyword
hi def link portentpropTemporal Operator
hi def link portentpropAtom Function
hi def link portentpropQuantifier Repeat
hi def link portentpropConstant Boolean
hi def link portentpropString String
hi def link portentpropComment Comment

let b:current_syntax = 'portentprop'
