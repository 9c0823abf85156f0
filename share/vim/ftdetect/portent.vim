" Portent's files. Standard ML has .sml too: a model begins with declarations or with a thread.
autocmd BufRead,BufNewFile *.prop setfiletype portentprop
autocmd BufRead,BufNewFile *.trace setfiletype portenttrace
autocmd BufRead,BufNewFile *.sml call s:Model()

function! s:Model() abort
  for line in getline(1, 50)
    if line =~# '^\s*\(int\|lock\)\s\+\h\w*\s*\([,;].*\)\?$' || line =~# '^\s*thread\>.*{'
      set filetype=portentsml
      return
    endif
  endfor
endfunction
